/* SPDX-License-Identifier: MIT */
#include "log/regionlog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/journal.h"

enum { VERSION = 1 };
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

static bool put(struct rp_journal *journal, struct rp_buffer *entry)
{
    bool good = !entry->failed;

    if (good)
        rp_journal_put(journal, entry->bytes, entry->length);
    rp_buffer_free(entry);
    return good;
}

static bool put_head(struct rp_journal *journal, uint64_t run, uint32_t rank)
{
    struct rp_buffer head = {0};

    rp_buffer_byte(&head, 'R');
    rp_buffer_varint(&head, VERSION);
    rp_buffer_u64(&head, run);
    rp_buffer_varint(&head, rank);
    return put(journal, &head);
}

enum rp_status rp_region_create(const char *directory, uint64_t run, uint32_t rank, struct rp_region_writer **out, struct rp_problem *why)
{
    struct rp_region_writer *w = calloc(1, sizeof *w);
    char *path = rp_region_path(directory, rank);
    enum rp_status status = w && path ? rp_journal_create(path, &w->journal, why) : rp_fail(why, RP_MEMORY, "out of memory");

    free(path);
    if (status == RP_OK && !put_head(w->journal, run, rank)) {
        rp_journal_close(w->journal, true);
        status = rp_fail(why, RP_MEMORY, "out of memory");
    }
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
    put(w->journal, &entry);
}

void rp_region_close(struct rp_region_writer *w)
{
    rp_journal_close(w->journal, false);
    free(w);
}

/* Reading */

static bool take_head(struct rp_view *in, uint64_t run, uint32_t rank, bool *newer)
{
    uint8_t kind = rp_view_byte(in);
    uint64_t version = rp_view_varint(in);

    *newer = kind == 'R' && version > VERSION;
    return kind == 'R' && !*newer && rp_view_u64(in) == run && rp_view_varint(in) == rank && !in->failed;
}

static bool take_end(struct rp_regions *r, struct rp_view *in)
{
    uint64_t end = r->ends ? r->end[r->ends - 1] : 0;
    bool good = rp_view_byte(in) == 'E' && !__builtin_add_overflow(end, rp_view_varint(in), &end);

    if (!good || in->failed || in->at != in->end || !rp_array_grow((void **)&r->end, r->ends, sizeof *r->end))
        return false;
    r->end[r->ends++] = end;
    return true;
}

static enum rp_status take_all(struct rp_regions *r, const struct rp_buffer *file, const char *path, uint64_t run, uint32_t rank, struct rp_problem *why)
{
    struct rp_journal_view view = rp_journal_view_of(file->bytes, file->length);
    const uint8_t *bytes;
    size_t length;
    bool good = true, newer = false;

    errno = 0;
    while (good && rp_journal_next(&view, &bytes, &length)) {
        struct rp_view in = rp_view_of(bytes, length);
        good = view.number == 1 ? take_head(&in, run, rank, &newer) : take_end(r, &in);
    }
    if (newer)
        return rp_fail(why, RP_UNSUPPORTED, "rank %u: %s: of a version that this reprise cannot read", rank, path);
    if (!good && errno == ENOMEM)
        return rp_fail(why, RP_MEMORY, "rank %u: %s: out of memory", rank, path);
    if (!good || view.damaged || view.number == 0)
        return rp_fail(why, RP_DAMAGED, "rank %u: %s: damaged, or not of this record (entry %llu)", rank, path, (unsigned long long)view.number);
    return RP_OK;
}

enum rp_status rp_regions_read(const char *directory, uint64_t run, uint32_t rank, struct rp_regions *out, struct rp_problem *why)
{
    struct rp_buffer file = {0};
    char *path = rp_region_path(directory, rank);
    bool is_there = path && (access(path, F_OK) == 0 || errno != ENOENT);
    enum rp_status status = path ? RP_OK : rp_fail(why, RP_MEMORY, "out of memory");

    *out = (struct rp_regions){0};
    if (is_there)
        status = rp_read_file(path, file_limit, &file, why);
    if (status == RP_OK && is_there && !rp_journal_is_blank(file.bytes, file.length))
        status = rp_journal_is(file.bytes, file.length) ? take_all(out, &file, path, run, rank, why) : rp_fail(why, RP_DAMAGED, "rank %u: %s: not a log of regions", rank, path);
    if (status != RP_OK)
        rp_regions_free(out);
    rp_buffer_free(&file);
    free(path);
    return status;
}

void rp_regions_free(struct rp_regions *r)
{
    free(r->end);
    *r = (struct rp_regions){0};
}

enum rp_status rp_regions_copy(const char *from, const char *to, uint64_t run, uint32_t rank, struct rp_problem *why)
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
