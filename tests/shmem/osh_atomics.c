/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: PEs race for tickets, for a lock of their own making, and for bits; what each gets is in
//     its hash
#include "oshcheck.h"

enum { ROUNDS = 200 };
static long ticket, word; // 32 bits to compare or to mask smash the stack of Open MPI 4.1.4
static unsigned long bits;
static double slot;

static void tickets(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        osh_note((uint64_t)shmem_long_atomic_fetch_add(&ticket, 1, 0));
        if (i % 16 == 0)
            osh_pause(1);
    }
    osh_note((uint64_t)shmem_long_finc(&ticket, 1)); // old names
    osh_note((uint64_t)shmem_long_fadd(&ticket, 5, 1));
    shmem_long_inc(&ticket, 1);
    shmem_long_add(&ticket, 2, 1);
    shmem_barrier_all();
    CHECK(me != 0 || ticket == ROUNDS * pes);
    CHECK(me != 1 || ticket == 9 * pes);
}

// What is protected is in each PE's own memory, and read there without any other call. In the heap:
// Open MPI 4.1.4 may wait for ever for static data of a PE that waits for its own.
static void own_lock(long *lock, long *protected)
{
    long sum = 0;

    for (int i = 0; i < 20; i++) {
        long spins = 0;
        while (shmem_long_atomic_compare_swap(lock, 0, me + 1, 0) != 0)
            spins++;
        long seen = protected[me]; // whoever had the lock before wrote it into all
        for (int pe = 0; pe < pes; pe++)
            shmem_long_p(&protected[pe], seen + 1, pe);
        sum = seen;
        osh_note((uint64_t)spins);
        osh_note((uint64_t)seen);
        shmem_quiet();
        shmem_long_atomic_set(lock, 0, 0);
        shmem_quiet();
        if (i % 5 == me)
            osh_pause(1);
    }
    osh_note((uint64_t)sum);
    shmem_barrier_all();
    CHECK(protected[me] == 20 * pes);
    CHECK(sum < 20 * pes);
}

static void bit_by_bit(void)
{
    osh_note(shmem_ulong_atomic_fetch_or(&bits, 1ul << me, 2));
    osh_note(shmem_ulong_atomic_fetch_xor(&bits, 0xff00, 2));
    osh_note(shmem_ulong_atomic_fetch_and(&bits, ~(1ul << me), 2));
    shmem_ulong_atomic_or(&bits, 1ul << 16 << me, 2);
    shmem_ulong_atomic_and(&bits, ~0ul, 2);
    shmem_ulong_atomic_xor(&bits, 0, 2);
    osh_note((uint64_t)shmem_long_atomic_swap(&word, me + 1, 3));
    osh_note((uint64_t)shmem_long_swap(&word, me + 10, 3));
    osh_note((uint64_t)shmem_long_cswap(&word, me + 10, me + 20, 3));
    osh_note((uint64_t)shmem_long_atomic_fetch(&word, 3));
    shmem_double_atomic_set(&slot, me + 0.5, 1);
    double found = shmem_double_atomic_fetch(&slot, 1);
    osh_note_bytes(&found, sizeof found);
    shmem_barrier_all();
    CHECK(me != 2 || (bits & 0xff00ff) == 0xful << 16); // Open MPI 4.1.4 gets exclusive or wrong
}

int main(void)
{
    osh_begin();
    long *heap = shmem_calloc(5, sizeof *heap);
    shmem_barrier_all();
    osh_pace();
    tickets();
    own_lock(heap, heap + 1);
    bit_by_bit();
    return osh_end();
}
