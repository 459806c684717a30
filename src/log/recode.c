/* SPDX-License-Identifier: MIT */
/*
 * The sites are written first. Then all events go through a ring, as if they had just happened, so
 * the new log can have other chunks than the old one. What only the old ring held goes into chunks,
 * too.
 */
#include "log/recode.h"

#include <stdlib.h>

static enum rp_status copy_sites(struct rp_log *log, struct rp_log_writer *writer,
                                 struct rp_problem *why)
{
    for (size_t i = 0; i < rp_log_chunk_count(log); i++) {
        const struct rp_chunk *chunk = rp_log_chunk(log, i);
        const struct rp_buffer *payload;
        if (chunk->kind != RP_CHUNK_SITES)
            continue;
        enum rp_status status = rp_log_payload(log, i, &payload, why);
        if (status != RP_OK)
            return status;
        rp_log_sites(writer, payload, (uint32_t)chunk->first, chunk->items);
    }
    return RP_OK;
}

static enum rp_status copy_events(struct rp_log *log, struct rp_ring *ring, struct rp_event *block,
                                  struct rp_problem *why)
{
    size_t count;

    rp_log_rewind(log);
    do {
        enum rp_status status = rp_log_next_block(log, block, &count, why);
        if (status != RP_OK)
            return status;
        const uint64_t *times = rp_log_block_times(log);
        for (size_t i = 0; i < count; i++) {
            struct rp_event *slot = rp_ring_slot(ring);
            *slot = block[i];
            if (times && ring->times)
                ring->times[slot - ring->slots] = times[i];
        }
        rp_ring_publish(ring);
    } while (count > 0);
    return RP_OK;
}

static enum rp_status copy(struct rp_log *log, struct rp_log_writer *writer, struct rp_problem *why)
{
    struct rp_event *block = malloc(RP_CHUNK_EVENTS_LIMIT * sizeof *block);
    struct rp_ring *ring;
    enum rp_status status =
        block ? rp_log_stream(writer, 0, &ring, why) : rp_fail(why, RP_MEMORY, "out of memory");

    if (status == RP_OK)
        status = copy_sites(log, writer, why);
    if (status == RP_OK)
        status = copy_events(log, ring, block, why);
    free(block);
    return status;
}

enum rp_status rp_log_recode(struct rp_log *log, const char *directory,
                             const struct rp_codec *codec, const struct rp_row_codec *rows,
                             struct rp_problem *why)
{
    struct rp_log_manner manner = {.codec = codec, .is_inline = true, .rows = rows};
    struct rp_log_id id = rp_log_id(log);
    struct rp_log_end end = rp_log_end(log);
    struct rp_log_writer *writer;

    if (rp_log_has_rows(log))
        return rp_fail(why, RP_USAGE,
                       "%s holds rows: what was left out of them cannot be written again",
                       rp_log_name(log));
    manner.timed = rp_log_is_timed(log) && !rows;
    enum rp_status status =
        rp_log_create(directory, id.run, id.rank, id.ranks, &manner, &writer, why);

    if (status != RP_OK)
        return status;
    status = copy(log, writer, why);
    if (status != RP_OK) {
        struct rp_problem ignored;
        rp_log_close(writer, RP_END_KILLED, 0, &ignored);
        return status;
    }
    return rp_log_close(writer, end.reason, end.code, why);
}
