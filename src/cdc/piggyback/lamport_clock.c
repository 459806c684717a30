/* SPDX-License-Identifier: MIT */
/*
 * Lamport's clock as in Clock Delta Compression (Sato et al., SC '15, definition 4): a message is
 * sent with the clock, which is then one more; a receive sets the clock to the larger of its own
 * and the message's, and one more. A receive counts when the program learns of its completion,
 * not when the message arrives: that moment is the same in a replay.
 *
 * A stamp is the clock in the upper 40 bits and the sender's rank in the lower 24. It is never all
 * ones.
 */
#include "cdc/piggyback/lamport_clock.h"

#include <stdlib.h>

#include "base/diagnostics.h"
#include "peers/peer_piggyback.h"
#include "preload/datatype_layout.h"
#include "cdc/piggyback/piggyback_entries.h"
#include "preload/constants.h"
#include "preload/modules.h"

enum { RANK_BITS = 24 };

int rp_piggyback_is_open;
unsigned long rp_piggyback_collectives;
const struct rp_piggyback_hooks *rp_hooks;

static uint64_t now; /* the clock */
static uint64_t own_rank;

static struct {
    struct rp_stamp *at;
    size_t count, room;
} completed;

void reprise_piggyback_open(int world_rank)
{
    rp_constants_find();
    rp_next_resolve();
    rp_piggyback_guards = !rp_next_is_the_library();
    rp_diagnostics_process("rank", world_rank);
    own_rank = (uint64_t)world_rank;
    rp_piggyback_is_open = 1;
}

void reprise_piggyback_close(void)
{
    rp_layout_drop_all();
}

uint64_t rp_stamp_make(void)
{
    return now++ << RANK_BITS | own_rank;
}

uint64_t reprise_piggyback_clock(void)
{
    return now;
}

/* Replays. Axiom 1 (i): the clock moves as the record did. */
void reprise_piggyback_received(uint64_t clock)
{
    now = (clock > now ? clock : now) + 1;
}

struct rp_stamp_parts reprise_piggyback_parts(uint64_t stamp)
{
    return (struct rp_stamp_parts){stamp >> RANK_BITS, (int32_t)(stamp & ((1u << RANK_BITS) - 1))};
}

void reprise_piggyback_pause(int by)
{
    rp_piggyback_inside += by;
}

void reprise_piggyback_hook(const struct rp_piggyback_hooks *hooks)
{
    rp_hooks = hooks;
}

int reprise_piggyback_synced(void)
{
    static unsigned long seen;
    int synced = rp_piggyback_collectives != seen;

    seen = rp_piggyback_collectives;
    return synced;
}

void rp_stamps_clear(void)
{
    completed.count = 0;
}

void rp_stamps_add(int index, uint64_t stamp)
{
    if (completed.count == completed.room) {
        completed.room = completed.room ? completed.room * 2 : 64;
        completed.at = realloc(completed.at, completed.room * sizeof *completed.at);
        if (!completed.at)
            rp_bug(__FILE__, __LINE__, "out of memory for clocks");
    }
    completed.at[completed.count++] =
        (struct rp_stamp){index, (int32_t)(stamp & ((1u << RANK_BITS) - 1)), stamp >> RANK_BITS};
}

/* Records: the clock moves by the receives that the program learnt of. */
size_t reprise_piggyback_take(const struct rp_stamp **stamps)
{
    size_t count = completed.count;

    for (size_t i = 0; i < count; i++)
        now = (completed.at[i].clock > now ? completed.at[i].clock : now) + 1;
    completed.count = 0;
    *stamps = completed.at;
    return count;
}
