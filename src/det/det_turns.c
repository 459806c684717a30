/* SPDX-License-Identifier: MIT */
/*
 * What ranks do in an order without messages: in that of logical time, those of one time by rank.
 * A rank waits until all others are known to be later, as a test does that says no.
 */
#include "det/det_turns.h"

#include "det/det_comms.h"
#include "det/det_wait.h"

struct turn {
    const struct rp_det_comm *comm;
    uint64_t now;
    uint32_t next; /* the first of those that may be earlier */
};

static bool is_own(void *data, bool only_whether)
{
    struct turn *turn = data;

    (void)only_whether;
    while (turn->next < (uint32_t)turn->comm->size &&
           rp_det_is_turn_before(turn->now, turn->comm->world[turn->next]))
        turn->next++;
    return turn->next == (uint32_t)turn->comm->size;
}

/* The ranks of a job that begins meanwhile are not earlier than the rank that begins it: they are
 * seen once that one is known to be later. */
static bool is_own_among_all(void *data, bool only_whether)
{
    struct turn *turn = data;

    (void)only_whether;
    while (turn->next < rp_shared_see_jobs() && rp_det_is_turn_before(turn->now, turn->next))
        turn->next++;
    return turn->next == rp_shared_see_jobs();
}

void rp_det_wait_for_turn(void)
{
    struct rp_det_wait wait = {.runs = true};
    struct turn turn = {.now = rp_shared_now()};

    rp_det_wait(is_own_among_all, &turn, &wait);
}

void reprise_det_turn(const char *function, uintptr_t return_address, uintptr_t stack,
                      MPI_Comm comm)
{
    struct rp_det_wait wait = {.runs = true};

    if (!rp_det.is_on || rp_det.inside > 0)
        return;
    rp_det_enter(function);
    rp_det.caller = return_address;
    rp_det.stack = stack;
    struct turn turn = {.comm = rp_det_comm_find(comm), .now = rp_shared_now()};
    if (turn.comm)
        rp_det_wait(is_own, &turn, &wait);
}

void reprise_det_took(uint64_t value)
{
    if (rp_det.is_on && rp_det.inside == 0)
        rp_det_decided(RP_DET_ANSWER, 1, value);
}
