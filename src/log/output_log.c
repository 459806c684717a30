/* SPDX-License-Identifier: MIT */
#include "log/output_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "event/wrappers.h"
#include "log/journalfile.h"

static const struct rp_journal_kind kind = {'G', 1, "a log of what was given"};
enum { MOST_ITEMS = 1 << 24 };
static const size_t file_limit = (size_t)1 << 32;

static char *path_of(const char *directory, uint32_t rank)
{
    char *path;

    return asprintf(&path, "%s/rank-%05u.given", directory, rank) < 0 ? NULL : path;
}

/* Writing */

struct rp_outputs_writer {
    struct rp_journal *journal;
    struct rp_site_table sites;
    struct rp_buffer entry;
    uint64_t items;
    bool ceased;
};

static void put(struct rp_outputs_writer *w)
{
    if (!w->entry.failed)
        rp_journal_put(w->journal, w->entry.bytes, w->entry.length);
    else
        w->ceased = true;
    rp_buffer_clear(&w->entry);
}

static void announce(void *owner, const struct rp_buffer *records, uint32_t first)
{
    struct rp_outputs_writer *w = owner;

    (void)first;
    rp_buffer_byte(&w->entry, 'S');
    rp_buffer_put(&w->entry, records->bytes, records->length);
    put(w);
}

enum rp_status rp_outputs_create(const char *directory, uint32_t rank,
                                 struct rp_outputs_writer **out, struct rp_problem *why)
{
    struct rp_outputs_writer *w = calloc(1, sizeof *w);
    char *path = path_of(directory, rank);
    enum rp_status status = w && path && rp_site_table_init(&w->sites)
                                ? rp_journal_file_create(path, &kind, 0, rank, &w->journal, why)
                                : rp_fail(why, RP_MEMORY, "out of memory");

    free(path);
    if (status != RP_OK) {
        if (w)
            rp_site_table_free(&w->sites);
        free(w);
        return status;
    }
    w->sites.announce = announce;
    w->sites.owner = w;
    w->sites.wrappers = rp_wrappers_list();
    *out = w;
    return RP_OK;
}

uint32_t rp_outputs_site(struct rp_outputs_writer *w, const char *function,
                         uintptr_t return_address, uintptr_t stack)
{
    return rp_site_find(&w->sites, function, return_address, stack);
}

void rp_outputs_begin(struct rp_outputs_writer *w, uint32_t site)
{
    rp_buffer_byte(&w->entry, 'B');
    rp_buffer_varint(&w->entry, site);
    put(w);
}

void rp_outputs_end(struct rp_outputs_writer *w)
{
    rp_buffer_byte(&w->entry, 'E');
    put(w);
}

void rp_outputs_put(struct rp_outputs_writer *w, const struct rp_outputs_item *item)
{
    if (w->ceased)
        return;
    if (w->items++ == MOST_ITEMS) {
        rp_outputs_cease(w);
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

void rp_outputs_cease(struct rp_outputs_writer *w)
{
    if (w->ceased)
        return;
    w->ceased = true;
    rp_buffer_byte(&w->entry, 'T');
    put(w);
}

void rp_outputs_close(struct rp_outputs_writer *w)
{
    rp_journal_close(w->journal, false);
    rp_site_table_free(&w->sites);
    rp_buffer_free(&w->entry);
    free(w);
}

/* Reading */

struct reading {
    struct rp_outputs *given;
    bool is_inside;
};

static bool take_item(struct reading *r, struct rp_view *in)
{
    struct rp_outputs *g = r->given;
    struct rp_outputs_item item = {0};
    uint64_t site = rp_view_varint(in);

    item.bytes = rp_view_varint(in);
    uint64_t peer = rp_view_varint(in);
    item.site = (uint32_t)site;
    item.peer = peer == 0 ? RP_OUTPUTS_NO_PEER : (int32_t)(peer - 1);
    item.is_floating = rp_view_byte(in) != 0;
    item.digest = rp_view_u64(in);
    item.region = (uint32_t)(g->regions - 1);
    item.is_inside = r->is_inside;
    if (in->failed || peer > INT32_MAX || site >= g->sites.site_count || g->regions == 0 ||
        !rp_array_grow((void **)&g->item, g->items, sizeof item))
        return false;
    g->item[g->items++] = item;
    return true;
}

static bool take_region(struct reading *r, struct rp_view *in)
{
    struct rp_outputs *g = r->given;
    uint64_t site = rp_view_varint(in);

    if (in->failed || site >= g->sites.site_count || g->regions == UINT32_MAX ||
        !rp_array_grow((void **)&g->region, g->regions, sizeof *g->region))
        return false;
    g->region[g->regions++] = (uint32_t)site;
    r->is_inside = true;
    return true;
}

static bool take_entry(void *reading, struct rp_view *in)
{
    struct reading *r = reading;

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

enum rp_status rp_outputs_read(const char *directory, uint32_t rank, struct rp_outputs *out,
                               struct rp_problem *why)
{
    struct reading r = {.given = out};
    char *path = path_of(directory, rank);
    enum rp_status status = path ? RP_OK : rp_fail(why, RP_MEMORY, "out of memory");

    *out = (struct rp_outputs){0};
    if (path && (access(path, F_OK) == 0 || errno != ENOENT))
        status = rp_journal_file_read(path, &kind, 0, rank, file_limit, take_entry, &r, NULL, why);
    if (status != RP_OK)
        rp_outputs_free(out);
    free(path);
    return status;
}

void rp_outputs_free(struct rp_outputs *g)
{
    rp_site_table_free(&g->sites);
    free(g->item);
    free(g->region);
    *g = (struct rp_outputs){0};
}
