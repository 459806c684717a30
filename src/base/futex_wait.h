/* SPDX-License-Identifier: MIT */
/*
 * Waiting in shared memory. A process that waits for something sleeps on a futex until the process
 * that provides it wakes it. With more processes than cores, polling would take the core from the
 * process that is waited for.
 *
 * The waiter calls rp_futex_listen, checks its condition once more, and then calls rp_futex_sleep
 * or rp_futex_stop_listening. The other process makes the condition true, executes a full fence,
 * and calls rp_futex_ring.
 */
#ifndef RP_FUTEX_H
#define RP_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

struct rp_futex {
    _Atomic uint32_t has_waiter; /* a process sleeps, or is about to */
    _Atomic uint32_t rings;
};

/* Announces that the caller is about to sleep. The caller must then check its condition once more.
 * Returns a value for rp_futex_sleep. */
uint32_t rp_futex_listen(struct rp_futex *bell);

/* Sleeps until rp_futex_ring is called, at most `microseconds`. `seen` is what rp_futex_listen
 * returned. Afterwards the caller is no longer announced. */
void rp_futex_sleep(struct rp_futex *bell, uint32_t seen, long microseconds);

void rp_futex_stop_listening(struct rp_futex *bell);

/* Wakes the sleeper. The condition must be true before, with a full fence in between. rp_futex_ring
 * does nothing if nobody has announced itself. */
void rp_futex_wake_waiter(struct rp_futex *bell);

static inline void rp_futex_ring(struct rp_futex *bell)
{
    if (__builtin_expect(atomic_load_explicit(&bell->has_waiter, memory_order_relaxed) != 0, 0))
        rp_futex_wake_waiter(bell);
}

#endif
