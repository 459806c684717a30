/* SPDX-License-Identifier: MIT */
#include "log/givenlog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/journal.h"

enum { VERSION = 1, MOST_ITEMS = 1 << 24 };
static const size_t file_limit = (size_t)1 << 32;

static char *path_of(const char *directory, uint32_t rank)
{
    char *path;

    return asprintf(&path, "%s/rank-%05u.given", directory, rank) < 0 ? NULL : path;
}

/* Writing */

struct rp_given_writer {
    struct rp_journal *journal;
    struct rp_site_table sites;
    struct rp_buffer entry;
    uint64_t items;
    bool ceased;
};

static void put(struct rp_given_writer *w)
{
    if (!w->entry.failed)
        rp_journal_put(w->journal, w->entry.bytes, w->entry.length);
    else
        w->ceased = true;
    rp_buffer_clear(&w->entry);
}

static void announce(void *owner, const struct rp_buffer *records, uint32_t first)
{
    struct rp_given_writer *w = owner;

    (void)first;
    rp_buffer_byte(&w->entry, 'S');
    rp_buffer_put(&w->entry, records->bytes, records->length);
    put(w);
}

enum rp_status rp_given_create(const char *directory, uint32_t rank, struct rp_given_writer **out, struct rp_problem *why)
{
    struct rp_given_writer *w = calloc(1, sizeof *w);
    char *path = path_of(directory, rank);
    enum rp_status status = w && path && rp_site_table_init(&w->sites) ? rp_journal_create(path, &w->journal, why) : rp_fail(why, RP_MEMORY, "out of memory");

    free(path);
    if (status != RP_OK) {
        if (w)
            rp_site_table_free(&w->sites);
        free(w);
        return status;
    }
    w->sites.announce = announce;
    w->sites.owner = w;
    rp_buffer_byte(&w->entry, 'G');
    rp_buffer_varint(&w->entry, VERSION);
    rp_buffer_varint(&w->entry, rank);
    put(w);
    *out = w;
    return RP_OK;
}

uint32_t rp_given_site(struct rp_given_writer *w, const char *function, uintptr_t return_address, uintptr_t stack)
{
    return rp_site_find(&w->sites, function, return_address, stack);
}

void rp_given_begin(struct rp_given_writer *w, uint32_t site)
{
    rp_buffer_byte(&w->entry, 'B');
    rp_buffer_varint(&w->entry, site);
    put(w);
}

void rp_given_end(struct rp_given_writer *w)
{
    rp_buffer_byte(&w->entry, 'E');
    put(w);
}

void rp_given_put(struct rp_given_writer *w, const struct rp_given_item *item)
{
    if (w->ceased)
        return;
    if (w->items++ == MOST_ITEMS) {
        rp_given_cease(w);
        return;
    }
    rp_buffer_byte(&w->entry, 'I');
    rp_buffer_varint(&w->entry, item->site);
    rp_buffer_varint(&w->entry, item->bytes);
    rp_buffer_varint(&w->entry, (uint64_t)((int64_t)item->peer + 1));
    rp_buffer_byte(&w->entry, item->is_floating);
    rp_buffer_u64(&w->entry, item->digest);
    put(w);
}

void rp_given_cease(struct rp_given_writer *w)
{
    if (w->ceased)
        return;
    w->ceased = true;
    rp_buffer_byte(&w->entry, 'T');
    put(w);
}

/* Reading */

struct reading {
    struct rp_given *given;
    bool is_inside;
};

static bool take_item(struct reading *r, struct rp_view *in)
{
    struct rp_given *g = r->given;
    struct rp_given_item item = {0};
    uint64_t site = rp_view_varint(in);

    item.bytes = rp_view_varint(in);
    uint64_t peer = rp_view_varint(in);
    item.site = (uint32_t)site;
    item.peer = peer == 0 ? RP_GIVEN_NO_PEER : (int32_t)(peer - 1);
    item.is_floating = rp_view_byte(in) != 0;
    item.digest = rp_view_u64(in);
    item.region = (uint32_t)(g->regions - 1);
    item.is_inside = r->is_inside;
    if (in->failed || peer > INT32_MAX || site >= g->sites.site_count || g->regions == 0 || !rp_array_grow((void **)&g->item, g->items, sizeof item))
        return false;
    g->item[g->items++] = item;
    return true;
}

static bool take_region(struct reading *r, struct rp_view *in)
{
    struct rp_given *g = r->given;
    uint64_t site = rp_view_varint(in);

    if (in->failed || site >= g->sites.site_count || g->regions == UINT32_MAX || !rp_array_grow((void **)&g->region, g->regions, sizeof *g->region))
        return false;
    g->region[g->regions++] = (uint32_t)site;
    r->is_inside = true;
    return true;
}

static bool take_entry(struct reading *r, struct rp_view *in)
{
    switch (rp_view_byte(in)) {
    case 'S':
        return rp_site_read(&r->given->sites, in->at, (size_t)(in->end - in->at), 1);
    case 'B':
        return take_region(r, in);
    case 'E':
        r->is_inside = false;
        return true;
    case 'I':
        return take_item(r, in);
    case 'T':
        r->given->is_cut = true;
        return true;
    default:
        return false;
    }
}

static bool take_head(struct rp_view *in, uint32_t rank)
{
    return rp_view_byte(in) == 'G' && rp_view_varint(in) == VERSION && rp_view_varint(in) == rank && !in->failed;
}

static enum rp_status take_all(struct rp_given *g, const struct rp_buffer *file, const char *path, uint32_t rank, struct rp_problem *why)
{
    struct rp_journal_view view = rp_journal_view_of(file->bytes, file->length);
    struct reading r = {.given = g};
    const uint8_t *bytes;
    size_t length;
    bool good = true;

    while (good && rp_journal_next(&view, &bytes, &length)) {
        struct rp_view in = rp_view_of(bytes, length);
        good = view.number == 1 ? take_head(&in, rank) : take_entry(&r, &in);
    }
    return good && !view.damaged ? RP_OK : rp_fail(why, RP_DAMAGED, "rank %u: %s: damaged (entry %llu)", rank, path, (unsigned long long)view.number);
}

enum rp_status rp_given_read(const char *directory, uint32_t rank, struct rp_given *out, struct rp_problem *why)
{
    struct rp_buffer file = {0};
    char *path = path_of(directory, rank);
    bool is_there = path && (access(path, F_OK) == 0 || errno != ENOENT);
    enum rp_status status = path ? RP_OK : rp_fail(why, RP_MEMORY, "out of memory");

    *out = (struct rp_given){0};
    if (is_there)
        status = rp_read_file(path, file_limit, &file, why);
    if (status == RP_OK && is_there && !rp_journal_is_blank(file.bytes, file.length))
        status = rp_journal_is(file.bytes, file.length) ? take_all(out, &file, path, rank, why) : rp_fail(why, RP_DAMAGED, "rank %u: %s: damaged", rank, path);
    if (status != RP_OK)
        rp_given_free(out);
    rp_buffer_free(&file);
    free(path);
    return status;
}

void rp_given_free(struct rp_given *g)
{
    rp_site_table_free(&g->sites);
    free(g->item);
    free(g->region);
    *g = (struct rp_given){0};
}
