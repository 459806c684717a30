/* SPDX-License-Identifier: MIT */
/* A deadlock in words: first the ranks that wait for each other, then those that wait because of
 * them, then what the others happen to do meanwhile. */
#include "det/shared_describe.h"

static bool is_missing(const struct rp_shared_collective *collective, uint32_t rank)
{
    return (atomic_load(&collective->bits[rank / 64]) &
            ~atomic_load(&collective->bits[rp_shared_words() + rank / 64])) >>
               rank % 64 &
           1;
}

void rp_shared_put_missing(struct rp_buffer *text, const struct rp_shared_collective *collective)
{
    enum { MOST = 16 };
    uint32_t missing = 0, shown = 0;

    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        missing += is_missing(collective, i);
    for (uint32_t i = 0; i < rp_shared.ranks && shown < MOST; i++)
        if (is_missing(collective, i))
            rp_buffer_printf(text, "%s%s",
                             shown++       ? ", "
                             : missing > 1 ? "ranks "
                                           : "rank ",
                             rp_shared_rank_name(i).text);
    if (shown < missing)
        rp_buffer_printf(text, " and %u more", missing - shown);
}

/* Of a rank on another host, the communicator is named if we are in it. */
static void put_missing_of(struct rp_buffer *text, uint32_t rank, rp_shared_put_comm *put_comm)
{
    const struct rp_shared_copy *m = rp_shared_copy(rank);
    const struct rp_shared_collective *collective;

    if (!rp_shared_is_remote(rank)) {
        rp_shared_put_missing(text,
                              rp_shared_collective_at(atomic_load(&rp_shared.all[rank].object)));
        rp_buffer_printf(text, "%.*s", (int)sizeof rp_shared.all[rank].comm_name,
                         atomic_load(&rp_shared.all[rank].wait) == RP_WAIT_INSIDE_MPI
                             ? rp_shared.all[rank].comm_name
                             : "");
    } else if ((collective = rp_shared_collective_lock(m->comm, m->number))) {
        rp_shared_put_missing(text, collective);
        put_comm(text, m->comm);
        rp_shared_collective_unlock(collective);
    }
}

/* As the rank itself describes it, or as it can be seen from outside. */
static void put_wait(struct rp_buffer *text, uint32_t rank, bool is_for_ever,
                     rp_shared_put_comm *put_comm)
{
    const struct rp_shared_rank *state = &rp_shared.all[rank];
    uint32_t target = atomic_load(&state->target), wait = atomic_load(&state->wait);

    if (is_for_ever && atomic_load(&state->is_described) && state->description[0])
        rp_buffer_printf(text, "%.*s", RP_SHARED_DESCRIPTION, state->description);
    else if (wait == RP_WAIT_MESSAGE)
        rp_buffer_printf(text, "for a message from rank %s", rp_shared_rank_name(target).text);
    else if (wait == RP_WAIT_ANY)
        rp_buffer_printf(text, "for a message from any rank");
    else if (wait == RP_WAIT_RECEIVER)
        rp_buffer_printf(text, "until rank %s receives its message",
                         rp_shared_rank_name(target).text);
    else {
        rp_buffer_printf(text, "for ");
        put_missing_of(text, rank, put_comm);
    }
}

static void put_rank(struct rp_buffer *text, const char *before, uint32_t rank, bool is_for_ever,
                     rp_shared_put_comm *put_comm)
{
    const struct rp_shared_rank *state = &rp_shared.all[rank];

    if (rp_shared_clock_of(rank) == RP_SEND_NEVER) {
        rp_buffer_printf(text, "\n  rank %s has ended", rp_shared_rank_name(rank).text);
    } else if (atomic_load(&state->version) % 2 != 0) {
        rp_buffer_printf(text, "\n  %srank %s runs", before, rp_shared_rank_name(rank).text);
    } else {
        rp_buffer_printf(text, "\n  %srank %s waits in %.*s ", before,
                         rp_shared_rank_name(rank).text, (int)sizeof state->what, state->what);
        put_wait(text, rank, is_for_ever, put_comm);
    }
}

static bool is_in(const struct rp_deadlock_cycle *cycle, uint32_t rank)
{
    for (size_t i = 0; i < cycle->count; i++)
        if (cycle->chain[i] == rank)
            return true;
    return false;
}

/* "rank 0 waits for rank 1, which waits for rank 0" */
static void put_chain(struct rp_buffer *text, const struct rp_deadlock_cycle *cycle)
{
    enum { MOST = 8 };
    size_t links = cycle->is_closed ? cycle->count : cycle->count - 1,
           shown = links > MOST ? MOST - 1 : links;
    uint32_t last = cycle->chain[cycle->is_closed ? 0 : cycle->count - 1];

    rp_buffer_printf(text, "rank %s waits", rp_shared_rank_name(cycle->chain[0]).text);
    for (size_t i = 0; i < shown; i++)
        rp_buffer_printf(text, "%s for rank %s", i ? ", which waits" : "",
                         rp_shared_rank_name(cycle->chain[(i + 1) % cycle->count]).text);
    if (shown < links)
        rp_buffer_printf(text, ", and so on, %zu ranks further, to rank %s", links - shown,
                         rp_shared_rank_name(last).text);
    if (!cycle->is_closed && rp_shared_clock_of(last) == RP_SEND_NEVER)
        rp_buffer_printf(text, ", which has ended");
}

static bool waits_for_ever(uint32_t rank, uint64_t bound)
{
    return bound == RP_SEND_NEVER && rp_shared_clock_of(rank) != RP_SEND_NEVER;
}

/* "ranks 0, 1, 2 wait for each other": no way through them says more. */
static void put_all(struct rp_buffer *text, const uint64_t *bounds)
{
    enum { MOST = 16 };
    uint32_t waiting = 0, shown = 0;

    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        waiting += waits_for_ever(i, bounds[i]);
    for (uint32_t i = 0; i < rp_shared.ranks && shown < MOST; i++)
        if (waits_for_ever(i, bounds[i]))
            rp_buffer_printf(text, "%s%s",
                             shown++       ? ", "
                             : waiting > 1 ? "ranks "
                                           : "rank ",
                             rp_shared_rank_name(i).text);
    if (shown < waiting)
        rp_buffer_printf(text, " and %u more", waiting - shown);
    rp_buffer_printf(text, waiting > 1 ? " wait for each other"
                                       : " waits for any other, and all have ended");
}

void rp_shared_describe(struct rp_buffer *text, const struct rp_deadlock_cycle *cycle,
                        const uint64_t *bounds, rp_shared_put_comm *put_comm)
{
    if (cycle->has_choice)
        put_all(text, bounds);
    else
        put_chain(text, cycle);
    rp_buffer_printf(text, ": nothing can come any more; the ranks are here:");
    for (size_t i = 0; i < cycle->count && !cycle->has_choice; i++)
        put_rank(text, "", cycle->chain[i], true, put_comm);
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (bounds[i] == RP_SEND_NEVER && (cycle->has_choice || !is_in(cycle, i)))
            put_rank(text, cycle->has_choice ? "" : "because of them, ", i, true, put_comm);
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (bounds[i] != RP_SEND_NEVER && (cycle->has_choice || !is_in(cycle, i)))
            put_rank(text, "meanwhile, ", i, false, put_comm);
}
