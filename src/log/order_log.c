/* SPDX-License-Identifier: MIT */
/* Marks are collected and put into the journal many at a time: those that a killed process had not
 * put are lost, and what they would have bounded is then unbounded. */
#include "log/order_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "log/journalfile.h"

static const struct rp_journal_kind kind = {'O', 2, "an order log"};
enum record_kind {
    MARKS_OF_ENTRIES = 'M',
    MARKS_OF_LOADS = 'T',
    WINDOW = 'W',
    MORE_MEMBERS = 'w', /* of the window before */
    ATTACHED = 'B'
};
enum { TOGETHER = 240, MEMBERS_AT_ONCE = 8192 };
static const size_t file_limit = (size_t)1 << 36;

char *rp_order_log_path(const char *directory, uint32_t rank)
{
    char *path;

    return asprintf(&path, "%s/rank-%05u.order", directory, rank) < 0 ? NULL : path;
}

/* Writing */

struct marks {
    uint8_t kind; /* enum record_kind */
    struct rp_buffer bytes;
    uint64_t count, time; /* of the last mark */
};

struct rp_order_log_writer {
    struct rp_journal *journal;
    struct marks entries, loads;
};

static void put_marks(struct rp_order_log_writer *w, struct marks *m)
{
    if (m->bytes.length > 1 && !m->bytes.failed)
        rp_journal_put(w->journal, m->bytes.bytes, m->bytes.length);
    rp_buffer_clear(&m->bytes);
    rp_buffer_byte(&m->bytes, m->kind);
}

static void free_writer(struct rp_order_log_writer *w)
{
    if (w) {
        rp_buffer_free(&w->entries.bytes);
        rp_buffer_free(&w->loads.bytes);
    }
    free(w);
}

enum rp_status rp_order_log_create(const char *directory, uint64_t run, uint32_t rank,
                                   struct rp_order_log_writer **out, struct rp_problem *why)
{
    struct rp_order_log_writer *w = calloc(1, sizeof *w);
    char *path = rp_order_log_path(directory, rank);
    bool room = w && path && rp_buffer_reserve(&w->entries.bytes, TOGETHER + 32) &&
                rp_buffer_reserve(&w->loads.bytes, TOGETHER + 32);
    enum rp_status status = room ? rp_journal_file_create(path, &kind, run, rank, &w->journal, why)
                                 : rp_fail(why, RP_MEMORY, "out of memory");

    free(path);
    if (status != RP_OK) {
        free_writer(w);
        return status;
    }
    w->entries.kind = MARKS_OF_ENTRIES;
    w->loads.kind = MARKS_OF_LOADS;
    put_marks(w, &w->entries);
    put_marks(w, &w->loads);
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

static void mark(struct rp_order_log_writer *w, struct marks *m, uint64_t count, uint64_t time)
{
    if (time < m->time)
        time = m->time;
    uint8_t *end = put_number(put_number(m->bytes.bytes + m->bytes.length, count - m->count),
                              time - m->time); /* there is room */
    m->bytes.length = (size_t)(end - m->bytes.bytes);
    m->count = count;
    m->time = time;
    if (m->bytes.length > TOGETHER)
        put_marks(w, m);
}

void rp_order_log_mark(struct rp_order_log_writer *w, uint64_t entries, uint64_t time)
{
    mark(w, &w->entries, entries, time);
}

void rp_order_log_mark_loads(struct rp_order_log_writer *w, uint64_t loads, uint64_t time)
{
    mark(w, &w->loads, loads, time);
}

void rp_order_log_window(struct rp_order_log_writer *w, const int *members, size_t count)
{
    struct rp_buffer *out = &w->entries.bytes;

    put_marks(w, &w->entries);
    for (size_t first = 0; first == 0 || first < count; first += MEMBERS_AT_ONCE) {
        size_t part = count - first < MEMBERS_AT_ONCE ? count - first : MEMBERS_AT_ONCE;
        rp_buffer_clear(out);
        rp_buffer_byte(out, first == 0 ? WINDOW : MORE_MEMBERS);
        for (size_t i = first; i < first + part; i++)
            rp_buffer_varint(out, (uint32_t)members[i]);
        put_marks(w, &w->entries);
    }
}

void rp_order_log_attach(struct rp_order_log_writer *w, uint64_t window, uint64_t address,
                         uint64_t size)
{
    struct rp_buffer *out = &w->entries.bytes;

    put_marks(w, &w->entries);
    rp_buffer_clear(out);
    rp_buffer_byte(out, ATTACHED);
    rp_buffer_varint(out, window);
    rp_buffer_varint(out, address);
    rp_buffer_varint(out, size);
    put_marks(w, &w->entries);
}

void rp_order_log_close(struct rp_order_log_writer *w)
{
    put_marks(w, &w->entries);
    put_marks(w, &w->loads);
    rp_journal_close(w->journal, false);
    free_writer(w);
}

/* Reading */

static bool take_marks(struct rp_order_log_mark **mark, size_t *marks, struct rp_view *in)
{
    while (in->at < in->end) {
        struct rp_order_log_mark last =
            *marks ? (*mark)[*marks - 1] : (struct rp_order_log_mark){0, 0};
        uint64_t entries = rp_view_varint(in), time = rp_view_varint(in);
        if (in->failed || __builtin_add_overflow(last.entries, entries, &last.entries) ||
            __builtin_add_overflow(last.time, time, &last.time) ||
            !rp_array_grow((void **)mark, *marks, sizeof **mark))
            return false;
        (*mark)[(*marks)++] = last;
    }
    return true;
}

static bool take_window(struct rp_order_log *o, struct rp_view *in, bool more)
{
    if (more && o->windows == 0)
        return false;
    if (!more) {
        if (!rp_array_grow((void **)&o->window, o->windows, sizeof *o->window))
            return false;
        o->window[o->windows++] = (struct rp_order_log_members){0};
    }
    struct rp_order_log_members *m = &o->window[o->windows - 1];
    while (in->at < in->end) {
        uint64_t rank = rp_view_varint(in);
        if (in->failed || rank > UINT32_MAX ||
            !rp_array_grow((void **)&m->rank, m->count, sizeof *m->rank))
            return false;
        m->rank[m->count++] = (uint32_t)rank;
    }
    return true;
}

static bool take_attached(struct rp_order_log *o, struct rp_view *in)
{
    struct rp_order_log_attached a = {.window = rp_view_varint(in)};

    a.address = rp_view_varint(in);
    a.size = rp_view_varint(in);
    if (in->failed || in->at != in->end || a.address + a.size < a.address ||
        !rp_array_grow((void **)&o->attached, o->attaches, sizeof a))
        return false;
    o->attached[o->attaches++] = a;
    return true;
}

static bool take_entry(void *order, struct rp_view *in)
{
    struct rp_order_log *o = order;
    uint8_t kind = rp_view_byte(in);

    if (kind == MARKS_OF_ENTRIES)
        return take_marks(&o->mark, &o->marks, in);
    if (kind == MARKS_OF_LOADS)
        return take_marks(&o->load, &o->loads, in);
    if (kind == ATTACHED)
        return take_attached(o, in);
    return (kind == WINDOW || kind == MORE_MEMBERS) && take_window(o, in, kind == MORE_MEMBERS);
}

enum rp_status rp_order_log_read(const char *directory, uint64_t run, uint32_t rank,
                                 struct rp_order_log *out, struct rp_problem *why)
{
    char *path = rp_order_log_path(directory, rank);
    enum rp_status status = RP_OK;

    *out = (struct rp_order_log){0};
    if (!path)
        status = rp_fail(why, RP_MEMORY, "out of memory");
    else if (access(path, F_OK) != 0 && errno == ENOENT)
        status = rp_fail(why, RP_USAGE,
                         "%s is not there: rank %u made no windows of MPI, or was recorded by a "
                         "reprise that did not write it",
                         path, rank);
    else
        status = rp_journal_file_read(path, &kind, run, rank, file_limit, take_entry, out,
                                      &out->version, why);
    if (status != RP_OK)
        rp_order_log_free(out);
    free(path);
    return status;
}

void rp_order_log_free(struct rp_order_log *o)
{
    for (size_t i = 0; i < o->windows; i++)
        free(o->window[i].rank);
    free(o->window);
    free(o->mark);
    free(o->load);
    free(o->attached);
    *o = (struct rp_order_log){0};
}

/* The first mark of at least so many. */
static size_t first_of(const struct rp_order_log_mark *mark, size_t marks, uint64_t entries)
{
    size_t low = 0, high = marks;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (mark[middle].entries < entries)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t before(const struct rp_order_log_mark *mark, size_t marks, uint64_t entries)
{
    size_t first = first_of(mark, marks, entries);

    return first > 0 ? mark[first - 1].time : 0;
}

static uint64_t after(const struct rp_order_log_mark *mark, size_t marks, uint64_t entries)
{
    size_t first = first_of(mark, marks, entries);

    return first < marks ? mark[first].time : UINT64_MAX;
}

uint64_t rp_order_log_before(const struct rp_order_log *o, uint64_t entries)
{
    return before(o->mark, o->marks, entries);
}

uint64_t rp_order_log_after(const struct rp_order_log *o, uint64_t entries)
{
    return after(o->mark, o->marks, entries);
}

uint64_t rp_order_log_before_load(const struct rp_order_log *o, uint64_t loads)
{
    return before(o->load, o->loads, loads);
}

uint64_t rp_order_log_after_load(const struct rp_order_log *o, uint64_t loads)
{
    return after(o->load, o->loads, loads);
}
