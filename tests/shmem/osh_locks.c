/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: who gets a lock when, how often a test says no, who writes first; a flag that is polled
//     with another call
#include "oshcheck.h"

// In the heap: Open MPI 4.1.4 may wait for ever for static data of a PE that tests or locks its
// own.
static long *lock, *taken;
static long long done;

static void locks(long *log)
{
    for (int i = 0; i < 8; i++) {
        if (i % 2) {
            shmem_set_lock(lock);
        } else {
            long no = 0;
            while (shmem_test_lock(lock) != 0)
                no++;
            osh_note((uint64_t)no);
        }
        long n = shmem_long_g(taken, 0);
        for (int pe = 0; pe < pes; pe++)
            shmem_long_p(&log[n], me, pe);
        shmem_long_p(taken, n + 1, 0);
        shmem_quiet();
        if (n > 0 && n % 3 == 0)
            osh_note((uint64_t)log[n - 1]); // who had it before wrote that here
        shmem_clear_lock(lock);
        if (i == me)
            osh_pause(2);
    }
    shmem_barrier_all();
    CHECK(me != 0 || *taken == 8 * pes);
    osh_note_bytes(log, 8 * (size_t)pes * sizeof *log);
}

static void waits(int *flag)
{
    int next = (me + 1) % pes, *turn = flag + 1;
    long no = 0;

    if (me == 0) {
        osh_pause(5);
        shmem_int_p(flag, 1, next);
    }
    while (!shmem_int_test(flag, SHMEM_CMP_NE, 0))
        no++;
    osh_note((uint64_t)no);
    CHECK(*flag == 1 + (me + pes - 1) % pes);
    if (me != 0)
        shmem_int_p(flag, me + 1, next);
    shmem_longlong_atomic_inc(&done, 0);
    if (me == 0) {
        shmem_longlong_wait_until(&done, SHMEM_CMP_GE, pes - 1);
        osh_note((uint64_t)done);
    }
    shmem_barrier_all();
    // The old form: until it is another.
    if (me == 0)
        for (int pe = 1; pe < pes; pe++)
            shmem_int_p(turn, 10 + pe, pe);
    else
        shmem_int_wait(turn, 0);
    osh_note((uint64_t)*turn);
    shmem_barrier_all();
}

// Not what the specification asks for, but it works: the flag is looked at without a wait, and
// something is called meanwhile.
static void polls(volatile int *seen)
{
    long calls = 0;

    if (me == pes - 1) {
        osh_pause(3);
        for (int pe = 0; pe < pes - 1; pe++)
            shmem_int_p((int *)seen, 3, pe);
        shmem_quiet();
    } else {
        while (*seen != 3) {
            shmem_fence();
            calls++;
        }
        osh_note((uint64_t)calls);
    }
    shmem_barrier_all();
}

int main(void)
{
    osh_begin();
    long *log = shmem_calloc(64, sizeof *log);
    int *flags = shmem_calloc(4, sizeof *flags);
    lock = shmem_calloc(1, sizeof *lock);
    taken = shmem_calloc(1, sizeof *taken);
    shmem_barrier_all();
    osh_pace();
    locks(log);
    waits(flags);
    polls(flags + 2);
    return osh_end();
}
