/* SPDX-License-Identifier: MIT */
/* Reading the events of a log, with their times, or its rows, block by block. */
#include <stdlib.h>
#include <string.h>

#include "log/logchunks.h"

/* Events */

static enum rp_status check_sites(struct rp_log *log, const struct rp_event *events, size_t count,
                                  struct rp_problem *why)
{
    for (size_t i = 0; i < count; i++)
        if (events[i].site >= log->sites.site_count)
            return rp_fail(why, RP_DAMAGED, "rank %u: %s: event %llu names call site %u of %zu",
                           log->rank, log->path, U64(log->next_event + i), events[i].site,
                           log->sites.site_count);
    return RP_OK;
}

/* Times */

/* The first chunk that has events. */
static size_t next_events(const struct rp_log *log, size_t at)
{
    while (at < log->chunk_count && log->chunks[at].kind != RP_CHUNK_EVENTS_KIND)
        at++;
    return at;
}

bool rp_log_is_timed(const struct rp_log *log)
{
    size_t first = next_events(log, 0);

    return first < log->chunk_count ? first > 0 && log->chunks[first - 1].kind == RP_CHUNK_TIMES
                                    : log->rest.times != NULL;
}

const uint64_t *rp_log_block_times(const struct rp_log *log)
{
    return log->times;
}

/* The TIMES chunk in front of the EVENTS chunk of that number. */
static enum rp_status read_times(struct rp_log *log, size_t events, struct rp_problem *why)
{
    struct rp_chunk *chunk = events > 0 ? &log->chunks[events - 1] : NULL;

    if (!chunk || chunk->kind != RP_CHUNK_TIMES || chunk->items != log->chunks[events].items)
        return rp_log_damaged(log, log->chunks[events].offset,
                              "events without times, in a log whose events have some", why);
    enum rp_status status = rp_log_confirm_chunk(log, chunk, why);
    if (status == RP_OK)
        status = rp_log_read_payload(log, chunk, why);
    if (status != RP_OK)
        return status;
    struct rp_view in = rp_view_of(log->payload.bytes, log->payload.length);
    return rp_format_get_times(&in, log->times, chunk->items)
               ? RP_OK
               : rp_log_damaged(log, chunk->offset, "times are not well formed", why);
}

static enum rp_status next_of_rest(struct rp_log *log, struct rp_event *events, size_t *count)
{
    size_t left = log->rest.count - log->next_rest;

    *count = left < RP_CHUNK_EVENTS_LIMIT ? left : RP_CHUNK_EVENTS_LIMIT;
    if (*count > 0)
        memcpy(events, log->rest.events + log->next_rest, *count * sizeof *events);
    if (*count > 0 && log->times && log->rest.times)
        memcpy(log->times, log->rest.times + log->next_rest, *count * sizeof *log->times);
    log->next_rest += *count;
    return RP_OK;
}

enum rp_status rp_log_next_block(struct rp_log *log, struct rp_event *events, size_t *count,
                                 struct rp_problem *why)
{
    enum rp_status status;

    if (log->of_rows)
        return rp_fail(why, RP_USAGE, "rank %u: %s: holds rows, not events", log->rank, log->path);
    if (rp_log_is_timed(log) && !log->times &&
        !(log->times = calloc(RP_CHUNK_EVENTS_LIMIT, sizeof *log->times)))
        return rp_log_no_memory(log, why);
    log->next_chunk = next_events(log, log->next_chunk);
    if (log->next_chunk < log->chunk_count) {
        struct rp_chunk *chunk = &log->chunks[log->next_chunk];
        *count = chunk->items;
        status = log->times ? read_times(log, log->next_chunk, why) : RP_OK;
        log->next_chunk++;
        if (status == RP_OK)
            status = rp_log_decode_chunk(log, chunk, events, why);
    } else {
        status = next_of_rest(log, events, count);
    }
    if (status == RP_OK)
        status = check_sites(log, events, *count, why);
    if (status == RP_OK)
        log->next_event += *count;
    else
        *count = 0;
    return status;
}

void rp_log_rewind(struct rp_log *log)
{
    log->next_chunk = 0;
    log->next_rest = 0;
    log->next_event = 0;
    log->goes_on = false;
    log->rest_is_read = false;
}

/* Rows */

bool rp_log_has_rows(const struct rp_log *log)
{
    return log->of_rows;
}

static enum rp_status decode_rows(struct rp_log *log, struct rp_chunk *chunk,
                                  struct rp_row_chunk *out, struct rp_problem *why)
{
    struct rp_rows_head head;
    struct rp_view rest;
    struct rp_row_sum sum;
    struct rp_problem inner;
    enum rp_status status = rp_log_read_rows_head(log, chunk, &head, &rest, why);

    if (status != RP_OK)
        return status;
    status = rp_row_codec_by_id(chunk->codec)
                 ->decode(rest.at, (size_t)(rest.end - rest.at), head.raw, chunk->items,
                          &log->scratch, out, &inner);
    if (status != RP_OK)
        return status == RP_DAMAGED ? rp_log_damaged(log, chunk->offset, inner.text, why)
                                    : rp_log_no_memory(log, why);
    rp_row_chunk_sum(out, &sum);
    const char *fault = sum.rows != chunk->items ? "not as many rows as it says"
                        : !rp_row_chunk_fits(out, log->sites.site_count, log->ranks)
                            ? "rows of a call site or rank that there is not"
                        : head.events < log->next_event ? "rows of fewer events than those before"
                        : log->ended && head.events > log->end.events
                            ? "rows of more events than there are"
                            : NULL;
    if (fault) {
        rp_row_chunk_free(out);
        return rp_log_damaged(log, chunk->offset, fault, why);
    }
    log->next_event = head.events;
    return RP_OK;
}

/* A call that was cut off did not return to the program, and has no rows. */
static enum rp_status rows_of_rest(struct rp_log *log, struct rp_row_chunk *out,
                                   struct rp_problem *why)
{
    struct rp_rows rows = {0};
    enum rp_status status = rp_rows_add(&rows, log->rest.events, log->rest.count);

    *out = (struct rp_row_chunk){0};
    if (status == RP_OK)
        status = rp_rows_finish(&rows);
    if (status == RP_OK)
        status = rp_row_tables_by_site(rp_rows_of(&rows), rp_rows_count(&rows), &out->tables);
    rp_rows_free(&rows);
    log->next_event += log->rest.count;
    return status == RP_OK ? RP_OK : rp_log_no_memory(log, why);
}

enum rp_status rp_log_next_rows(struct rp_log *log, struct rp_row_chunk *out, bool *found,
                                struct rp_problem *why)
{
    while (log->next_chunk < log->chunk_count && log->chunks[log->next_chunk].kind != RP_CHUNK_ROWS)
        log->next_chunk++;
    *found = log->next_chunk < log->chunk_count;
    if (*found)
        return decode_rows(log, &log->chunks[log->next_chunk++], out, why);
    *found = log->rest.count > 0 && !log->rest_is_read;
    if (!*found)
        return RP_OK;
    log->rest_is_read = true;
    enum rp_status status = check_sites(log, log->rest.events, log->rest.count, why);
    return status == RP_OK ? rows_of_rest(log, out, why) : status;
}
