/* SPDX-License-Identifier: MIT */
#include "log/regionlog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "log/journalfile.h"

static const struct rp_journal_kind kind = {'R', 1, "a log of regions"};
static const size_t file_limit = (size_t)1 << 32;

char *rp_region_path(const char *directory, uint32_t rank)
{
    char *path;

    return asprintf(&path, "%s/rank-%05u.regions", directory, rank) < 0 ? NULL : path;
}

/* Writing */

struct rp_region_writer {
    struct rp_journal *journal;
    uint64_t last;
};

enum rp_status rp_region_create(const char *directory, uint64_t run, uint32_t rank,
                                struct rp_region_writer **out, struct rp_problem *why)
{
    struct rp_region_writer *w = calloc(1, sizeof *w);
    char *path = rp_region_path(directory, rank);
    enum rp_status status = w && path
                                ? rp_journal_file_create(path, &kind, run, rank, &w->journal, why)
                                : rp_fail(why, RP_MEMORY, "out of memory");

    free(path);
    if (status != RP_OK)
        free(w);
    else
        *out = w;
    return status;
}

void rp_region_closed(struct rp_region_writer *w, uint64_t events)
{
    struct rp_buffer entry = {0};

    rp_buffer_byte(&entry, 'E');
    rp_buffer_varint(&entry, events - w->last);
    w->last = events;
    if (!entry.failed)
        rp_journal_put(w->journal, entry.bytes, entry.length);
    rp_buffer_free(&entry);
}

void rp_region_close(struct rp_region_writer *w)
{
    rp_journal_close(w->journal, false);
    free(w);
}

/* Reading */

static bool take_end(void *regions, struct rp_view *in)
{
    struct rp_regions *r = regions;
    uint64_t end = r->ends ? r->end[r->ends - 1] : 0;
    bool good = rp_view_byte(in) == 'E' && !__builtin_add_overflow(end, rp_view_varint(in), &end);

    if (!good || in->failed || in->at != in->end ||
        !rp_array_grow((void **)&r->end, r->ends, sizeof *r->end))
        return false;
    r->end[r->ends++] = end;
    return true;
}

enum rp_status rp_regions_read(const char *directory, uint64_t run, uint32_t rank,
                               struct rp_regions *out, struct rp_problem *why)
{
    char *path = rp_region_path(directory, rank);
    enum rp_status status = path ? RP_OK : rp_fail(why, RP_MEMORY, "out of memory");

    *out = (struct rp_regions){0};
    if (path && (access(path, F_OK) == 0 || errno != ENOENT))
        status = rp_journal_file_read(path, &kind, run, rank, file_limit, take_end, out, NULL, why);
    if (status != RP_OK)
        rp_regions_free(out);
    free(path);
    return status;
}

void rp_regions_free(struct rp_regions *r)
{
    free(r->end);
    *r = (struct rp_regions){0};
}

enum rp_status rp_regions_copy(const char *from, const char *to, uint64_t run, uint32_t rank,
                               struct rp_problem *why)
{
    struct rp_region_writer *writer;
    struct rp_regions regions;
    enum rp_status status = rp_regions_read(from, run, rank, &regions, why);

    if (status == RP_OK && regions.ends > 0)
        status = rp_region_create(to, run, rank, &writer, why);
    if (status == RP_OK && regions.ends > 0) {
        for (size_t i = 0; i < regions.ends; i++)
            rp_region_closed(writer, regions.end[i]);
        rp_region_close(writer);
    }
    rp_regions_free(&regions);
    return status;
}

uint64_t rp_regions_after(const struct rp_regions *r, uint64_t events)
{
    size_t low = 0, high = r->ends;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->end[middle] <= events)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->ends ? r->end[low] : UINT64_MAX;
}
