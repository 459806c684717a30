/* SPDX-License-Identifier: MIT */
/*
 * Who sends must look for sleepers only after the message is on its way, and who falls asleep must
 * look for messages only after it says so: a full fence on both sides. Sends are many, and a fence
 * behind one waits until the message has left the core: nearly as long as the send. So who falls
 * asleep, which is rare, has the kernel put the fence into all who run at that moment.
 */
#include "engine/wakeup.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/constants.h"

static struct {
    struct rp_replay_state *state;
    uint32_t first, ranks; /* slots of MPI_COMM_WORLD */
    struct rp_futex *own;
    uint32_t seen; /* as rp_futex_listen returned it */
    bool is_fenced_by_sleepers;
} door;

static bool membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

void rp_wakeup_open(struct rp_replay_state *state, uint32_t first, int rank, int ranks)
{
    door.state = state;
    door.first = first;
    door.ranks = (uint32_t)ranks;
    door.own = &state->rank[first + (uint32_t)rank].bell;
    door.is_fenced_by_sleepers = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

void rp_wakeup_listen(void)
{
    atomic_fetch_add_explicit(&door.state->sleepers, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&door.state->awake, 1, memory_order_relaxed);
    door.seen = rp_futex_listen(door.own);
    if (door.is_fenced_by_sleepers)
        membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

static void wake_up(void)
{
    atomic_fetch_sub_explicit(&door.state->sleepers, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&door.state->awake, 1, memory_order_relaxed);
}

void rp_wakeup_stop_listening(void)
{
    rp_futex_stop_listening(door.own);
    wake_up();
}

void rp_wakeup_sleep(long microseconds)
{
    rp_futex_sleep(door.own, door.seen, microseconds);
    wake_up();
}

static bool is_anyone_asleep(void)
{
    if (door.is_fenced_by_sleepers)
        atomic_signal_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&door.state->sleepers, memory_order_relaxed) > 0;
}

static void ring_all(void)
{
    for (uint32_t rank = 0; rank < door.state->ranks; rank++)
        rp_futex_ring(&door.state->rank[rank].bell);
}

void rp_wakeup_ring(int dest, MPI_Comm comm)
{
    if (!is_anyone_asleep())
        return;
    if (comm == rp_constant.world && dest >= 0 && (uint32_t)dest < door.ranks)
        rp_futex_ring(&door.state->rank[door.first + (uint32_t)dest].bell);
    else
        ring_all();
}

void rp_wakeup_ring_all(void)
{
    if (is_anyone_asleep())
        ring_all();
}
