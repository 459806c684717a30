/* SPDX-License-Identifier: MIT */
#include "engine/doorbell.h"

#include "mpi/constants.h"

static struct {
    struct rp_replay_state *state;
    struct rp_bell *own;
    uint32_t heard;
} door;

void rp_doorbell_open(struct rp_replay_state *state, int rank)
{
    door.state = state;
    door.own = &state->rank[rank].bell;
}

void rp_doorbell_listen(void)
{
    atomic_fetch_add_explicit(&door.state->sleepers, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&door.state->awake, 1, memory_order_relaxed);
    door.heard = rp_bell_listen(door.own);
}

static void wake_up(void)
{
    atomic_fetch_sub_explicit(&door.state->sleepers, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&door.state->awake, 1, memory_order_relaxed);
}

void rp_doorbell_stop_listening(void)
{
    rp_bell_stop_listening(door.own);
    wake_up();
}

void rp_doorbell_sleep(long microseconds)
{
    rp_bell_sleep(door.own, door.heard, microseconds);
    wake_up();
}

static bool is_anyone_asleep(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&door.state->sleepers, memory_order_relaxed) > 0;
}

static void ring_all(void)
{
    for (uint32_t rank = 0; rank < door.state->ranks; rank++)
        rp_bell_ring(&door.state->rank[rank].bell);
}

void rp_doorbell_ring(int dest, MPI_Comm comm)
{
    if (!is_anyone_asleep())
        return;
    if (comm == rp_constant.world && dest >= 0 && (uint32_t)dest < door.state->ranks)
        rp_bell_ring(&door.state->rank[dest].bell);
    else
        ring_all();
}

void rp_doorbell_ring_all(void)
{
    if (is_anyone_asleep())
        ring_all();
}
