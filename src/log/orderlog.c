/* SPDX-License-Identifier: MIT */
/* Marks are collected and put into the journal many at a time: those that a killed process had not put are lost, and what they would have bounded is then unbounded. */
#include "log/orderlog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "log/journalfile.h"

static const struct rp_journal_kind kind = {'O', 1, "an order log"};
enum { TOGETHER = 240, MEMBERS_AT_ONCE = 8192 };
static const size_t file_limit = (size_t)1 << 36;

char *rp_order_path(const char *directory, uint32_t rank)
{
    char *path;

    return asprintf(&path, "%s/rank-%05u.order", directory, rank) < 0 ? NULL : path;
}

/* Writing */

struct rp_order_writer {
    struct rp_journal *journal;
    struct rp_buffer marks;
    uint64_t entries, time; /* of the last mark */
};

static void put_marks(struct rp_order_writer *w)
{
    if (w->marks.length > 1 && !w->marks.failed)
        rp_journal_put(w->journal, w->marks.bytes, w->marks.length);
    rp_buffer_clear(&w->marks);
    rp_buffer_byte(&w->marks, 'M');
}

enum rp_status rp_order_create(const char *directory, uint64_t run, uint32_t rank, struct rp_order_writer **out, struct rp_problem *why)
{
    struct rp_order_writer *w = calloc(1, sizeof *w);
    char *path = rp_order_path(directory, rank);
    enum rp_status status = w && path && rp_buffer_reserve(&w->marks, TOGETHER + 32) ? rp_journal_file_create(path, &kind, run, rank, &w->journal, why) : rp_fail(why, RP_MEMORY, "out of memory");

    free(path);
    if (status != RP_OK) {
        if (w)
            rp_buffer_free(&w->marks);
        free(w);
        return status;
    }
    put_marks(w);
    *out = w;
    return RP_OK;
}

static inline uint8_t *put_number(uint8_t *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *at++ = (uint8_t)(number | 0x80);
    *at++ = (uint8_t)number;
    return at;
}

void rp_order_mark(struct rp_order_writer *w, uint64_t entries, uint64_t time)
{
    if (time < w->time)
        time = w->time;
    uint8_t *end = put_number(put_number(w->marks.bytes + w->marks.length, entries - w->entries), time - w->time); /* there is room */
    w->marks.length = (size_t)(end - w->marks.bytes);
    w->entries = entries;
    w->time = time;
    if (w->marks.length > TOGETHER)
        put_marks(w);
}

void rp_order_window(struct rp_order_writer *w, const int *members, size_t count)
{
    put_marks(w);
    for (size_t first = 0; first == 0 || first < count; first += MEMBERS_AT_ONCE) {
        size_t part = count - first < MEMBERS_AT_ONCE ? count - first : MEMBERS_AT_ONCE;
        rp_buffer_clear(&w->marks);
        rp_buffer_byte(&w->marks, first == 0 ? 'W' : 'w');
        for (size_t i = first; i < first + part; i++)
            rp_buffer_varint(&w->marks, (uint32_t)members[i]);
        put_marks(w);
    }
}

void rp_order_close(struct rp_order_writer *w)
{
    put_marks(w);
    rp_journal_close(w->journal, false);
    rp_buffer_free(&w->marks);
    free(w);
}

/* Reading */

static bool take_marks(struct rp_order *o, struct rp_view *in)
{
    while (in->at < in->end) {
        struct rp_order_mark last = o->marks ? o->mark[o->marks - 1] : (struct rp_order_mark){0, 0};
        uint64_t entries = rp_view_varint(in), time = rp_view_varint(in);
        if (in->failed || __builtin_add_overflow(last.entries, entries, &last.entries) || __builtin_add_overflow(last.time, time, &last.time) || !rp_array_grow((void **)&o->mark, o->marks, sizeof *o->mark))
            return false;
        o->mark[o->marks++] = last;
    }
    return true;
}

static bool take_window(struct rp_order *o, struct rp_view *in, bool more)
{
    if (more && o->windows == 0)
        return false;
    if (!more) {
        if (!rp_array_grow((void **)&o->window, o->windows, sizeof *o->window))
            return false;
        o->window[o->windows++] = (struct rp_order_members){0};
    }
    struct rp_order_members *m = &o->window[o->windows - 1];
    while (in->at < in->end) {
        uint64_t rank = rp_view_varint(in);
        if (in->failed || rank > UINT32_MAX || !rp_array_grow((void **)&m->rank, m->count, sizeof *m->rank))
            return false;
        m->rank[m->count++] = (uint32_t)rank;
    }
    return true;
}

static bool take_entry(void *order, struct rp_view *in)
{
    uint8_t letter = rp_view_byte(in);

    return letter == 'M' ? take_marks(order, in) : (letter == 'W' || letter == 'w') && take_window(order, in, letter == 'w');
}

enum rp_status rp_order_read(const char *directory, uint64_t run, uint32_t rank, struct rp_order *out, struct rp_problem *why)
{
    char *path = rp_order_path(directory, rank);
    enum rp_status status = RP_OK;

    *out = (struct rp_order){0};
    if (!path)
        status = rp_fail(why, RP_MEMORY, "out of memory");
    else if (access(path, F_OK) != 0 && errno == ENOENT)
        status = rp_fail(why, RP_USAGE, "%s is not there: rank %u made no windows of MPI, or was recorded by a reprise that did not write it", path, rank);
    else
        status = rp_journal_file_read(path, &kind, run, rank, file_limit, take_entry, out, why);
    if (status != RP_OK)
        rp_order_free(out);
    free(path);
    return status;
}

void rp_order_free(struct rp_order *o)
{
    for (size_t i = 0; i < o->windows; i++)
        free(o->window[i].rank);
    free(o->window);
    free(o->mark);
    *o = (struct rp_order){0};
}

/* The first mark of at least so many entries. */
static size_t first_of(const struct rp_order *o, uint64_t entries)
{
    size_t low = 0, high = o->marks;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (o->mark[middle].entries < entries)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t rp_order_before(const struct rp_order *o, uint64_t entries)
{
    size_t first = first_of(o, entries);

    return first > 0 ? o->mark[first - 1].time : 0;
}

uint64_t rp_order_after(const struct rp_order *o, uint64_t entries)
{
    size_t first = first_of(o, entries);

    return first < o->marks ? o->mark[first].time : UINT64_MAX;
}
