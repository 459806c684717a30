/* SPDX-License-Identifier: MIT */
#include "log/accesslog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/journal.h"

enum { VERSION = 2, NAME_LIMIT = 64 };
static const size_t file_limit = (size_t)1 << 38;

char *rp_access_path(const char *directory, uint32_t rank)
{
    char *path;

    return asprintf(&path, "%s/rank-%05u.accesses", directory, rank) < 0 ? NULL : path;
}

static uint64_t words_of(uint64_t bytes)
{
    return (bytes + 7) / 8;
}

static bool has_load(uint8_t kind)
{
    return kind == RP_ACCESS_LOAD || kind == RP_ACCESS_DIRECT;
}

/* Writing */

struct rp_access_writer {
    struct rp_journal *journal;
    struct rp_buffer entry;
};

static void put_entry(struct rp_access_writer *w)
{
    if (!w->entry.failed)
        rp_journal_put(w->journal, w->entry.bytes, w->entry.length);
    rp_buffer_clear(&w->entry);
}

enum rp_status rp_access_create(const char *path, uint64_t run, uint32_t rank,
                                struct rp_access_writer **out, struct rp_problem *why)
{
    struct rp_access_writer *w = calloc(1, sizeof *w);
    enum rp_status status =
        w ? rp_journal_create(path, &w->journal, why) : rp_fail(why, RP_MEMORY, "out of memory");

    if (status != RP_OK) {
        free(w);
        return status;
    }
    rp_buffer_byte(&w->entry, 'A');
    rp_buffer_varint(&w->entry, VERSION);
    rp_buffer_u64(&w->entry, run);
    rp_buffer_varint(&w->entry, rank);
    put_entry(w);
    *out = w;
    return RP_OK;
}

void rp_access_put_sites(struct rp_access_writer *w, const struct rp_buffer *records)
{
    rp_buffer_byte(&w->entry, 'S');
    rp_buffer_put(&w->entry, records->bytes, records->length);
    put_entry(w);
}

void rp_access_put(struct rp_access_writer *w, const struct rp_access *a)
{
    const char *function = a->function ? a->function : "";

    rp_buffer_byte(&w->entry, a->kind);
    rp_buffer_varint(&w->entry, a->window);
    rp_buffer_varint(&w->entry, a->owner);
    rp_buffer_svarint(&w->entry, a->place);
    rp_buffer_varint(&w->entry, a->shift);
    rp_buffer_varint(&w->entry, a->length);
    rp_buffer_varint(&w->entry, a->number);
    rp_buffer_varint(&w->entry, a->from);
    rp_buffer_varint(&w->entry, a->until);
    rp_buffer_varint(&w->entry, a->site);
    rp_buffer_string(&w->entry, function, strlen(function));
    if (a->kind == RP_ACCESS_WINDOW) {
        rp_buffer_varint(&w->entry, a->unit);
        rp_buffer_varint(&w->entry, a->flavor);
    }
    if (has_load(a->kind))
        rp_buffer_varint(&w->entry, a->load);
    rp_buffer_byte(&w->entry, a->known);
    if (a->known)
        rp_buffer_put(&w->entry, a->value, a->length);
    if (a->kind == RP_ACCESS_STORE)
        rp_buffer_put(&w->entry, a->mask, words_of(a->length));
    put_entry(w);
}

void rp_access_close(struct rp_access_writer *w)
{
    rp_journal_close(w->journal, false);
    rp_buffer_free(&w->entry);
    free(w);
}

/* Reading */

/* It is printed as a word. */
static bool is_name(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] <= ' ' || bytes[i] > '~' || bytes[i] == '"' || bytes[i] == '\\')
            return false;
    return length < NAME_LIMIT;
}

/* Names are few. */
static const char *name_of(struct rp_access_log *log, struct rp_view *in)
{
    size_t length;
    const uint8_t *bytes = rp_view_string(in, &length);

    if (!bytes || !is_name(bytes, length))
        return NULL;
    for (size_t i = log->name_count; i-- > 0;)
        if (strlen(log->names[i]) == length && memcmp(log->names[i], bytes, length) == 0)
            return log->names[i];
    if (!rp_array_grow((void **)&log->names, log->name_count, sizeof *log->names))
        return NULL;
    char *name = strndup((const char *)bytes, length);
    if (name)
        log->names[log->name_count++] = name;
    return name;
}

static const uint8_t *take_bytes(struct rp_view *in, uint64_t count)
{
    const uint8_t *bytes = in->at;

    if (in->failed || count > (uint64_t)(in->end - in->at)) {
        in->failed = true;
        return NULL;
    }
    in->at += count;
    return bytes;
}

static bool take_access(struct rp_access_log *log, uint8_t kind, struct rp_view *in)
{
    struct rp_access a = {.kind = kind};

    a.window = (uint32_t)rp_view_varint(in);
    a.owner = (uint32_t)rp_view_varint(in);
    a.place = rp_view_svarint(in);
    a.shift = rp_view_varint(in);
    a.length = rp_view_varint(in);
    a.number = rp_view_varint(in);
    a.from = rp_view_varint(in);
    a.until = rp_view_varint(in);
    a.site = (uint32_t)rp_view_varint(in);
    a.function = name_of(log, in);
    if (kind == RP_ACCESS_WINDOW) {
        a.unit = rp_view_varint(in);
        a.flavor = (uint32_t)rp_view_varint(in);
    }
    if (has_load(kind))
        a.load = rp_view_varint(in);
    a.known = rp_view_byte(in);
    if (a.known)
        a.value = take_bytes(in, a.length);
    if (kind == RP_ACCESS_STORE)
        a.mask = take_bytes(in, words_of(a.length));
    if (kind != RP_ACCESS_WINDOW && a.length > RP_ACCESS_PIECE)
        return false;
    if (in->failed || in->at != in->end || !a.function || a.site > log->sites.site_count ||
        !rp_array_grow((void **)&log->access, log->count, sizeof a))
        return false;
    log->access[log->count++] = a;
    return true;
}

static bool take_sites(struct rp_access_log *log, struct rp_view *in)
{
    return rp_site_read(&log->sites, in->at, (size_t)(in->end - in->at), 1);
}

static bool take_entry(struct rp_access_log *log, struct rp_view *in)
{
    uint8_t kind = rp_view_byte(in);

    if (kind == 'S')
        return take_sites(log, in);
    return strchr("WPGLNCOVD", kind) && kind && take_access(log, kind, in);
}

static enum rp_status take_all(struct rp_access_log *log, const char *path, uint64_t run,
                               uint32_t rank, struct rp_problem *why)
{
    struct rp_journal_view view = rp_journal_view_of(log->file.bytes, log->file.length);
    const uint8_t *bytes;
    size_t length;
    errno = 0;
    bool good = true;

    while (good && rp_journal_next(&view, &bytes, &length)) {
        struct rp_view in = rp_view_of(bytes, length);
        if (view.number == 1)
            good = rp_view_byte(&in) == 'A' && rp_view_varint(&in) == VERSION &&
                   rp_view_u64(&in) == run && rp_view_varint(&in) == rank && !in.failed;
        else
            good = take_entry(log, &in);
    }
    if (!good && errno == ENOMEM)
        return rp_fail(why, RP_MEMORY, "rank %u: %s: out of memory", rank, path);
    if (!good || view.damaged || view.number == 0)
        return rp_fail(why, RP_DAMAGED,
                       "rank %u: %s: damaged, or not of this record (entry %llu); 'reprise solo -r "
                       "%u --who' makes it anew",
                       rank, path, (unsigned long long)view.number, rank);
    return RP_OK;
}

enum rp_status rp_access_read(const char *directory, uint64_t run, uint32_t rank,
                              struct rp_access_log *out, struct rp_problem *why)
{
    char *path = rp_access_path(directory, rank);
    enum rp_status status = RP_OK;

    *out = (struct rp_access_log){0};
    if (!path || !rp_site_table_init(&out->sites))
        status = rp_fail(why, RP_MEMORY, "out of memory");
    else if (access(path, F_OK) != 0 && errno == ENOENT)
        status = rp_fail(why, RP_USAGE, "%s is not there: 'reprise solo -r %u --who' makes it",
                         path, rank);
    else
        status = rp_read_file(path, file_limit, &out->file, why);
    if (status == RP_OK && !rp_journal_is(out->file.bytes, out->file.length))
        status = rp_fail(why, RP_DAMAGED, "rank %u: %s: not a log of accesses", rank, path);
    if (status == RP_OK)
        status = take_all(out, path, run, rank, why);
    if (status != RP_OK)
        rp_access_free(out);
    free(path);
    return status;
}

void rp_access_free(struct rp_access_log *log)
{
    for (size_t i = 0; i < log->name_count; i++)
        free(log->names[i]);
    free(log->names);
    free(log->access);
    rp_site_table_free(&log->sites);
    rp_buffer_free(&log->file);
    *log = (struct rp_access_log){0};
}
