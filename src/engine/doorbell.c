/* SPDX-License-Identifier: MIT */
/*
 * The one sends and then looks who is asleep; the other says that it is and then looks for messages. With a full barrier between in both, one of them sees the
 * other. A bell that rings before the sleep begins has changed the count that the kernel compares.
 */
#include "engine/doorbell.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mpi/constants.h"

static struct {
    struct rp_replay_state *state;
    struct rp_rank_slot *own;
    uint32_t heard;
} door;

void rp_doorbell_open(struct rp_replay_state *state, int rank)
{
    door.state = state;
    door.own = &state->rank[rank];
}

void rp_doorbell_listen(void)
{
    door.heard = atomic_load_explicit(&door.own->bell, memory_order_relaxed);
    atomic_store_explicit(&door.own->asleep, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&door.state->sleepers, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&door.state->awake, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

void rp_doorbell_stop_listening(void)
{
    atomic_store_explicit(&door.own->asleep, 0, memory_order_relaxed);
    atomic_fetch_sub_explicit(&door.state->sleepers, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&door.state->awake, 1, memory_order_relaxed);
}

void rp_doorbell_sleep(long microseconds)
{
    struct timespec longest = {microseconds / 1000000, microseconds % 1000000 * 1000};

    syscall(SYS_futex, &door.own->bell, FUTEX_WAIT, door.heard, &longest, NULL, 0);
    rp_doorbell_stop_listening();
}

static void ring(struct rp_rank_slot *slot)
{
    if (!atomic_load_explicit(&slot->asleep, memory_order_relaxed) || !atomic_exchange(&slot->asleep, 0))
        return;
    atomic_fetch_add(&slot->bell, 1);
    syscall(SYS_futex, &slot->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool is_anyone_asleep(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&door.state->sleepers, memory_order_relaxed) > 0;
}

static void ring_all(void)
{
    for (uint32_t rank = 0; rank < door.state->ranks; rank++)
        ring(&door.state->rank[rank]);
}

void rp_doorbell_ring(int dest, MPI_Comm comm)
{
    if (!is_anyone_asleep())
        return;
    if (comm == rp_constant.world && dest >= 0 && (uint32_t)dest < door.state->ranks)
        ring(&door.state->rank[dest]);
    else
        ring_all();
}

void rp_doorbell_ring_all(void)
{
    if (is_anyone_asleep())
        ring_all();
}
