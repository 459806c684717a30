/* SPDX-License-Identifier: MIT */
/*
 * The waiter announces itself, and then checks its condition. The other process makes the condition
 * true, and then checks whether a waiter has announced itself. Both execute a full fence in
 * between, so at least one of them sees what the other did. A wake-up before the sleep begins
 * changes the count that the kernel compares, so it is not lost.
 */
#include "base/futex_wait.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint32_t rp_futex_listen(struct rp_futex *bell)
{
    uint32_t seen = atomic_load_explicit(&bell->rings, memory_order_relaxed);

    atomic_store_explicit(&bell->has_waiter, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    return seen;
}

void rp_futex_stop_listening(struct rp_futex *bell)
{
    atomic_store_explicit(&bell->has_waiter, 0, memory_order_relaxed);
}

void rp_futex_sleep(struct rp_futex *bell, uint32_t seen, long microseconds)
{
    struct timespec longest = {microseconds / 1000000, microseconds % 1000000 * 1000};

    syscall(SYS_futex, &bell->rings, FUTEX_WAIT, seen, &longest, NULL, 0);
    rp_futex_stop_listening(bell);
}

void rp_futex_wake_waiter(struct rp_futex *bell)
{
    if (!atomic_exchange(&bell->has_waiter, 0))
        return;
    atomic_fetch_add(&bell->rings, 1);
    syscall(SYS_futex, &bell->rings, FUTEX_WAKE, 1, NULL, NULL, 0);
}
