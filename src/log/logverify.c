/* SPDX-License-Identifier: MIT */
/* Functions that need a whole log: they collect its late matches, and check everything in it. */
#include <stdlib.h>

#include "log/logchunks.h"

/* Late matches */

static int by_post(const void *one, const void *other)
{
    uint64_t a = ((const struct rp_late *)one)->post, b = ((const struct rp_late *)other)->post;

    return a < b ? -1 : a > b;
}

static enum rp_status append_late_chunk(struct rp_log *log, struct rp_chunk *chunk,
                                        struct rp_late *late, struct rp_problem *why)
{
    enum rp_status status = rp_log_confirm_chunk(log, chunk, why);

    if (status == RP_OK)
        status = rp_log_read_payload(log, chunk, why);
    if (status != RP_OK)
        return status;
    struct rp_view in = rp_view_of(log->payload.bytes, log->payload.length);
    for (uint32_t i = 0; i < chunk->items; i++)
        late[i] = rp_format_get_late(&in);
    return in.failed || in.at != in.end
               ? rp_log_damaged(log, chunk->offset, "late matches are not well formed", why)
               : RP_OK;
}

static size_t append_late_rest(const struct rp_log *log, struct rp_late *late)
{
    size_t count = 0;

    for (size_t i = 0; i < log->rest.count; i++) {
        const struct rp_event *event = &log->rest.events[i];
        if (rp_event_has_post(event->kind))
            late[count++] = (struct rp_late){event->match.post, event->kind, event->match.source,
                                             event->match.tag};
    }
    return count;
}

static size_t sort_and_unify(struct rp_late *late, size_t count)
{
    size_t kept = 0;

    qsort(late, count, sizeof *late, by_post);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || late[kept - 1].post != late[i].post)
            late[kept++] = late[i];
    return kept;
}

/* An entry takes at least 4 bytes of its chunk, so that a hostile count allocates no more than the
 * file can justify. */
static enum rp_status count_late(const struct rp_log *log, size_t *total, struct rp_problem *why)
{
    *total = log->rest.count;
    for (size_t i = 0; i < log->chunk_count; i++) {
        const struct rp_chunk *chunk = &log->chunks[i];
        if (chunk->kind != RP_CHUNK_LATE)
            continue;
        if (chunk->items > chunk->stored / 4)
            return rp_log_damaged(log, chunk->offset, "more late matches than bytes", why);
        *total += chunk->items;
    }
    return RP_OK;
}

enum rp_status rp_log_late(struct rp_log *log, struct rp_late **out, size_t *count,
                           struct rp_problem *why)
{
    size_t total, used = 0;
    enum rp_status status = count_late(log, &total, why);

    if (status != RP_OK)
        return status;
    struct rp_late *late = malloc((total + 1) * sizeof *late);
    if (!late)
        return rp_log_no_memory(log, why);
    for (size_t i = 0; i < log->chunk_count && status == RP_OK; i++) {
        if (log->chunks[i].kind != RP_CHUNK_LATE)
            continue;
        status = append_late_chunk(log, &log->chunks[i], late + used, why);
        used += log->chunks[i].items;
    }
    if (status != RP_OK) {
        free(late);
        return status;
    }
    used += append_late_rest(log, late + used);
    *count = sort_and_unify(late, used);
    *out = late;
    return RP_OK;
}

/* Checking */

void rp_log_sum_add(struct rp_log_sum *sum, const struct rp_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum->receives += rp_event_receives(&events[i]);
        sum->polls += events[i].kind == RP_NO ? events[i].no.times : 0;
        sum->digest = rp_digest(sum->digest, &events[i]);
    }
    sum->events += count;
}

static enum rp_status verify_events(struct rp_log *log, struct rp_event *events,
                                    struct rp_log_sum *sum, struct rp_problem *why)
{
    size_t n;

    *sum = (struct rp_log_sum){.digest = RP_DIGEST_START};
    rp_log_rewind(log);
    do {
        enum rp_status status = rp_log_next_block(log, events, &n, why);
        if (status != RP_OK)
            return status;
        rp_log_sum_add(sum, events, n);
    } while (n > 0);
    rp_log_rewind(log);
    return RP_OK;
}

static enum rp_status verify_rows(struct rp_log *log, struct rp_log_sum *sum,
                                  struct rp_problem *why)
{
    struct rp_row_chunk chunk;
    struct rp_row_sum some;
    bool found;
    enum rp_status status;

    *sum = (struct rp_log_sum){.digest = log->ended ? log->end.digest : 0};
    rp_log_rewind(log);
    while ((status = rp_log_next_rows(log, &chunk, &found, why)) == RP_OK && found) {
        rp_row_chunk_sum(&chunk, &some);
        rp_row_chunk_free(&chunk);
        sum->receives += some.messages;
        sum->polls += some.polls;
    }
    sum->events = log->next_event;
    rp_log_rewind(log);
    if (status == RP_OK && log->ended && sum->events != log->end.events)
        return rp_fail(why, RP_DAMAGED, "rank %u: %s: rows of %llu events, its end says %llu",
                       log->rank, log->path, U64(sum->events), U64(log->end.events));
    return status;
}

enum rp_status rp_log_sum_check(const struct rp_log *log, const struct rp_log_sum *sum,
                                struct rp_problem *why)
{
    if (log->ended && sum->receives != log->end.receives)
        return rp_fail(why, RP_DAMAGED, "rank %u: %s: %llu receives, its end says %llu", log->rank,
                       log->path, U64(sum->receives), U64(log->end.receives));
    if (log->ended && sum->digest != log->end.digest)
        return rp_fail(why, RP_DAMAGED,
                       "rank %u: %s: the digest of its events is %016llx, its end says %016llx",
                       log->rank, log->path, U64(sum->digest), U64(log->end.digest));
    return RP_OK;
}

enum rp_status rp_log_verify_index(const struct rp_log *log, struct rp_problem *why)
{
    return log->ended && !log->indexed
               ? rp_log_damaged(
                     log, log->length,
                     "the index behind the END chunk is cut off, or damaged; no event is lost", why)
               : RP_OK;
}

enum rp_status rp_log_verify(struct rp_log *log, struct rp_log_sum *sum, struct rp_problem *why)
{
    if (log->of_rows)
        return verify_rows(log, sum, why);
    struct rp_event *events = malloc(RP_CHUNK_EVENTS_LIMIT * sizeof *events);
    struct rp_late *late = NULL;
    size_t late_count;

    if (!events)
        return rp_log_no_memory(log, why);
    enum rp_status status = verify_events(log, events, sum, why);
    free(events);
    if (status == RP_OK)
        status = rp_log_late(log, &late, &late_count, why);
    free(late);
    return status == RP_OK ? rp_log_sum_check(log, sum, why) : status;
}
