/* SPDX-License-Identifier: MIT */
/*
 * Opening a log. What is small is read at once: call sites, the end, and what only the ring held
 * when the process died.
 */
#include "log/logreader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "log/logchunks.h"
#include "log/logwriter.h"

/* What is read at once: sites, end, ring */

static enum rp_status read_end(struct rp_log *log, const struct rp_chunk *chunk,
                               struct rp_problem *why)
{
    struct rp_view in = rp_view_of(log->payload.bytes, log->payload.length);

    log->end.reason = rp_view_byte(&in);
    log->end.code = rp_view_svarint(&in);
    log->end.events = rp_view_u64(&in);
    log->end.receives = rp_view_u64(&in);
    log->end.digest = rp_view_u64(&in);
    if (in.failed || in.at != in.end || log->end.reason > RP_END_STOPPED ||
        (!log->of_rows && log->end.events != log->held.events))
        return rp_log_damaged(log, chunk->offset, "the END chunk does not fit this log", why);
    log->ended = true;
    return RP_OK;
}

static enum rp_status read_small_chunk(struct rp_log *log, struct rp_chunk *chunk,
                                       struct rp_problem *why)
{
    enum rp_status status = rp_log_confirm_chunk(log, chunk, why);

    if (status == RP_OK)
        status = rp_log_read_payload(log, chunk, why);
    if (status != RP_OK)
        return status;
    if (chunk->kind == RP_CHUNK_END)
        return read_end(log, chunk, why);
    if (chunk->first != log->sites.site_count ||
        !rp_site_read(&log->sites, log->payload.bytes, log->payload.length, chunk->items))
        return log->sites.starved
                   ? rp_log_no_memory(log, why)
                   : rp_log_damaged(log, chunk->offset, "the call sites are not well formed", why);
    return RP_OK;
}

static enum rp_status read_small_chunks(struct rp_log *log, struct rp_problem *why)
{
    for (size_t i = 0; i < log->chunk_count; i++) {
        uint16_t kind = log->chunks[i].kind;
        if (kind != RP_CHUNK_SITES && kind != RP_CHUNK_END)
            continue;
        enum rp_status status = read_small_chunk(log, &log->chunks[i], why);
        if (status != RP_OK)
            return status;
    }
    return RP_OK;
}

/* Events that are in no rows: those of the EVENTS chunks behind the last rows. */
static enum rp_status read_parts(struct rp_log *log, size_t from, struct rp_ring_rest *parts,
                                 struct rp_problem *why)
{
    uint64_t total = 0;

    for (size_t i = from; i < log->chunk_count; i++)
        total += log->chunks[i].kind == RP_CHUNK_EVENTS_KIND ? log->chunks[i].items : 0;
    *parts = (struct rp_ring_rest){0};
    if (total == 0)
        return RP_OK;
    parts->events = malloc(total * sizeof *parts->events);
    enum rp_status status = parts->events ? RP_OK : rp_log_no_memory(log, why);
    for (size_t i = from; i < log->chunk_count && status == RP_OK; i++) {
        if (log->chunks[i].kind != RP_CHUNK_EVENTS_KIND)
            continue;
        status = rp_log_decode_chunk(log, &log->chunks[i], parts->events + parts->count, why);
        parts->count += log->chunks[i].items;
    }
    if (status != RP_OK)
        free(parts->events);
    return status;
}

/* How many events the rows cover, and those behind them that are in chunks. */
static enum rp_status read_covered(struct rp_log *log, uint64_t *covered,
                                   struct rp_ring_rest *parts, struct rp_problem *why)
{
    size_t last = log->chunk_count;
    struct rp_rows_head head = {0, 0};
    struct rp_view rest;
    enum rp_status status = RP_OK;

    while (last > 0 && log->chunks[last - 1].kind != RP_CHUNK_ROWS)
        last--;
    if (last > 0)
        status = rp_log_read_rows_head(log, &log->chunks[last - 1], &head, &rest, why);
    *covered = head.events;
    return status == RP_OK ? read_parts(log, last, parts, why) : status;
}

/* Puts them in front of what the ring held. */
static enum rp_status join_parts(struct rp_log *log, struct rp_ring_rest *parts,
                                 struct rp_problem *why)
{
    size_t count = parts->count + log->rest.count;

    if (parts->count == 0)
        return RP_OK;
    struct rp_event *all = realloc(parts->events, count * sizeof *all);
    if (!all)
        return rp_log_no_memory(log, why);
    if (log->rest.count > 0)
        memcpy(all + parts->count, log->rest.events, log->rest.count * sizeof *all);
    free(log->rest.events);
    log->rest.events = all;
    log->rest.count = count;
    parts->events = NULL;
    return RP_OK;
}

static enum rp_status read_ring(struct rp_log *log, struct rp_problem *why)
{
    struct rp_ring_rest parts = {0};
    uint64_t covered = log->held.events;

    if (log->of_rows) {
        enum rp_status status = read_covered(log, &covered, &parts, why);
        if (status != RP_OK)
            return status;
    }
    char *path = rp_ring_path(log->directory, log->rank, 0);
    enum rp_status status = path ? RP_OK : rp_log_no_memory(log, why);

    if (status == RP_OK && access(path, F_OK) != 0)
        status = rp_fail(
            why, RP_DAMAGED,
            "rank %u: %s is missing: the log has no end, and its last events are in that file",
            log->rank, path);
    if (status == RP_OK)
        status = rp_ring_read(path, log->run, log->rank, 0, covered + parts.count, &log->rest, why);
    if (status == RP_OK)
        status = join_parts(log, &parts, why);
    free(parts.events);
    free(path);
    log->end.reason = log->rest.stopped ? RP_END_STOPPED : RP_END_KILLED;
    log->end.code = log->rest.stopped;
    log->end.events = covered + log->rest.count;
    return status;
}

/* Opening */

static enum rp_status open_file(struct rp_log *log, struct rp_problem *why)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct rp_problem because;
    struct stat st;

    int error = rp_reopen_open(&log->file, log->path, O_RDONLY);
    if (error == ENOENT)
        return rp_fail(
            why, RP_DAMAGED,
            "rank %u: %s is missing: it was lost, or the rank never came out of MPI_Init",
            log->rank, log->path);
    if (error || fstat(log->file.fd, &st) != 0) {
        enum rp_status status = rp_fail_open(&because, log->path, error ? error : errno);
        return rp_fail(why, status, "rank %u: %s", log->rank, because.text);
    }
    if (fcntl(log->file.fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
        return rp_fail(why, RP_BUSY, "rank %u: %s: still being written by process %d", log->rank,
                       log->path, (int)lock.l_pid);
    log->length = (uint64_t)st.st_size;
    return RP_OK;
}

static enum rp_status load(struct rp_log *log, struct rp_problem *why)
{
    enum rp_status status = open_file(log, why);

    if (status == RP_OK)
        status = rp_log_check_header(log, why);
    if (status == RP_OK)
        status = rp_log_read_index(log, &log->indexed, why);
    if (status == RP_OK && !log->indexed)
        status = rp_log_scan_chunks(log, why);
    if (status == RP_OK)
        status = read_small_chunks(log, why);
    if (status == RP_OK && log->indexed && !log->ended)
        status = rp_log_damaged(log, log->length, "an index without an END chunk", why);
    if (status == RP_OK && !log->ended)
        status = read_ring(log, why);
    return status;
}

enum rp_status rp_log_open(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                           struct rp_log **out, struct rp_problem *why)
{
    struct rp_log *log = calloc(1, sizeof *log);

    if (!log)
        return rp_fail(why, RP_MEMORY, "rank %u: out of memory", rank);
    log->file.fd = -1;
    log->run = run;
    log->rank = rank;
    log->ranks = ranks;
    log->path = rp_log_path(directory, rank);
    log->directory = strdup(directory);
    enum rp_status status = RP_OK;
    if (!log->path || !log->directory || !rp_site_table_init(&log->sites))
        status = rp_fail(why, RP_MEMORY, "rank %u: out of memory", rank);
    else
        status = load(log, why);
    if (status == RP_OK)
        *out = log;
    else
        rp_log_free(log);
    return status;
}

void rp_log_free(struct rp_log *log)
{
    if (!log)
        return;
    rp_reopen_close(&log->file);
    rp_site_table_free(&log->sites);
    rp_buffer_free(&log->payload);
    rp_buffer_free(&log->scratch);
    if (log->decoder)
        log->codec->close(log->decoder);
    free(log->rest.events);
    free(log->rest.times);
    free(log->times);
    free(log->chunks);
    free(log->path);
    free(log->directory);
    free(log);
}

uint64_t rp_log_event_count(const struct rp_log *log)
{
    return log->end.events;
}

uint64_t rp_log_size(const struct rp_log *log)
{
    return log->length;
}

struct rp_log_end rp_log_end(const struct rp_log *log)
{
    return log->end;
}

const struct rp_site_table *rp_log_site_table(const struct rp_log *log)
{
    return &log->sites;
}

const char *rp_log_name(const struct rp_log *log)
{
    return log->path;
}

size_t rp_log_chunk_count(const struct rp_log *log)
{
    return log->chunk_count;
}

const struct rp_chunk *rp_log_chunk(const struct rp_log *log, size_t index)
{
    return &log->chunks[index];
}

struct rp_log_id rp_log_id(const struct rp_log *log)
{
    return (struct rp_log_id){log->run, log->rank, log->ranks};
}

enum rp_status rp_log_payload(struct rp_log *log, size_t index, const struct rp_buffer **payload,
                              struct rp_problem *why)
{
    enum rp_status status = rp_log_confirm_chunk(log, &log->chunks[index], why);

    if (status == RP_OK)
        status = rp_log_read_payload(log, &log->chunks[index], why);
    if (status == RP_OK)
        *payload = &log->payload;
    return status;
}
