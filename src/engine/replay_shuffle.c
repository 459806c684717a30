/* SPDX-License-Identifier: MIT */
/*
 * Of the receives that the record has next in the region, at the same place, communicator and tag,
 * the messages are delivered in another order of sources. For the record it is as if they were
 * delivered in its own.
 *
 * Each region has numbers of its own from the seed, so that it is shuffled in the same way
 * whichever others are: who looks for the one that does not commute has only a part of them
 * shuffled (REPRISE_SHUFFLE_PART).
 *
 * A region has no end in the log. It ends after as many receives as it was begun for, or where the
 * record says that it was closed before (log/regionlog.h).
 */
#include "engine/replay_shuffle.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "engine/replay_cursor.h"
#include "log/regionlog.h"

static struct {
    uint64_t seed; /* 0: nothing is shuffled */
    uint64_t rank, region, shuffled_regions;
    uint64_t random;
    uint64_t left; /* receives in this region */
    uint64_t receives;
    struct rp_regions early;
    int32_t *sources; /* of the group at the front, in the order of delivery */
    size_t count, next;
} shuffle;

/* RANK.NUMBER: in the order of ranks, the regions before that one. */
static enum rp_status read_part(const char *part, uint64_t rank, uint64_t *regions,
                                struct rp_problem *why)
{
    char *end;
    uint64_t last = part ? strtoull(part, &end, 10) : 0;

    *regions = UINT64_MAX;
    if (!part)
        return RP_OK;
    if (*end != '.')
        return rp_fail(why, RP_USAGE, "REPRISE_SHUFFLE_PART=%s: RANK.NUMBER is expected", part);
    if (rank >= last)
        *regions = rank == last ? strtoull(end + 1, NULL, 10) : 0;
    return RP_OK;
}

enum rp_status rp_shuffle_open(const struct rp_session *session, struct rp_problem *why)
{
    long seed;
    enum rp_status status = rp_setting_number("REPRISE_SHUFFLE", 0, 0, &seed, why);

    if (status != RP_OK || seed == 0)
        return status;
    shuffle.seed = (uint64_t)seed;
    shuffle.rank = (uint64_t)session->rank;
    status =
        read_part(rp_setting("REPRISE_SHUFFLE_PART"), shuffle.rank, &shuffle.shuffled_regions, why);
    return status == RP_OK ? rp_regions_read(session->directory, session->run,
                                             (uint32_t)session->rank, &shuffle.early, why)
                           : status;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void find_group(const struct rp_event *front)
{
    struct rp_event first = *front;
    uint64_t position = rp_cursor_position(),
             ahead = rp_regions_after(&shuffle.early, position) - position;

    for (shuffle.count = shuffle.next = 0; shuffle.count < shuffle.left && shuffle.count < ahead;
         shuffle.count++) {
        const struct rp_event *event = rp_cursor_ahead(shuffle.count);
        if (!event || event->kind != RP_RECV || event->site != first.site ||
            event->scope != first.scope || event->match.tag != first.match.tag)
            break;
        RP_BUG_ON(
            !rp_array_grow((void **)&shuffle.sources, shuffle.count, sizeof *shuffle.sources));
        shuffle.sources[shuffle.count] = event->match.source;
    }
}

static void shuffle_group(void)
{
    for (size_t i = shuffle.count; i > 1; i--) {
        shuffle.random =
            shuffle.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t other = (size_t)(shuffle.random >> 33) % i;
        int32_t kept = shuffle.sources[i - 1];
        shuffle.sources[i - 1] = shuffle.sources[other];
        shuffle.sources[other] = kept;
    }
}

int rp_shuffle_source(const struct rp_event *event)
{
    if (shuffle.left == 0)
        return event->match.source;
    if (shuffle.next == shuffle.count) {
        find_group(event);
        shuffle_group();
    }
    shuffle.left--;
    shuffle.receives++;
    return shuffle.sources[shuffle.next++];
}

void rp_shuffle_region_begin(unsigned long count)
{
    shuffle.left = shuffle.seed && shuffle.region < shuffle.shuffled_regions ? count : 0;
    shuffle.random = mix(mix(mix(shuffle.seed) + shuffle.rank) + shuffle.region++);
    shuffle.count = shuffle.next = 0;
}

void rp_shuffle_region_end(void)
{
    shuffle.left = 0;
    shuffle.count = shuffle.next = 0;
}

uint64_t rp_shuffle_count(void)
{
    return shuffle.receives;
}
