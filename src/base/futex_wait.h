/* SPDX-License-Identifier: MIT */
/*
 * A bell in shared memory: a process that waits sleeps until another, which has something for it,
 * rings. With more processes than cores, to poll instead would take the core from those that are
 * waited for.
 */
#ifndef RP_FUTEX_H
#define RP_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

struct rp_futex {
    _Atomic uint32_t is_heard; /* somebody sleeps, or is about to */
    _Atomic uint32_t rings;
};

/* From now on the bell is heard. Look once more whether what is waited for has come, then sleep, or
 * stop listening. */
uint32_t rp_futex_listen(struct rp_futex *bell);

/* Until it rings, but not longer. `heard` is what rp_futex_listen gave. Listens no more. */
void rp_futex_sleep(struct rp_futex *bell, uint32_t heard, long microseconds);

void rp_futex_stop_listening(struct rp_futex *bell);

/* After what is waited for has come, and a full fence. */
void rp_futex_ring_heard(struct rp_futex *bell);

static inline void rp_futex_ring(struct rp_futex *bell)
{
    if (__builtin_expect(atomic_load_explicit(&bell->is_heard, memory_order_relaxed) != 0, 0))
        rp_futex_ring_heard(bell);
}

#endif
