/* SPDX-License-Identifier: MIT */
// ranks: 4
// about: the symmetric heap: blocks that come, go, move and are large; addresses that PEs hand to
//     each other; start_pes and no end
#include "oshcheck.h"

enum { LARGE = 1 << 20 };
static long *handed;

static void comes_and_goes(void)
{
    for (int i = 0; i < 5; i++) {
        int *block = shmem_malloc(1000 * sizeof *block), *other = shmem_align(256, 100);
        CHECK(block && other && (uintptr_t)other % 256 == 0);
        shmem_int_p(&block[i], me * 10 + i, (me + 1) % pes);
        shmem_int_p(&other[1], me, (me + 2) % pes);
        shmem_barrier_all();
        CHECK(block[i] == (me + pes - 1) % pes * 10 + i);
        osh_note((uint64_t)block[i]);
        osh_note((uint64_t)other[1]);
        shmem_free(block);
        shfree(other);
    }
    shmem_free(shmem_malloc(0)); // NULL, or not
}

static void moves(void)
{
    int *block = shmem_calloc(10, sizeof *block);

    CHECK(block[9] == 0);
    shmem_barrier_all(); // Open MPI 4.1.4 clears a block after the others may go on
    block[0] = 1 + me;
    shmem_int_p(&block[9], me, (me + 1) % pes);
    shmem_barrier_all();
    void *between = shmem_malloc(64);
    block = shmem_realloc(block, 100000);
    CHECK(block[0] == 1 + me && block[9] == (me + pes - 1) % pes);
    shmem_int_p(&block[20000], 5, (me + 1) % pes);
    shmem_barrier_all();
    CHECK(block[20000] == 5);
    osh_note((uint64_t)block[9]);
    shmem_free(between);
    shmem_free(block);
}

static void is_large(void)
{
    long *block = shmem_malloc(LARGE);
    size_t count = LARGE / sizeof *block;

    memset(block, 0, LARGE);
    shmem_barrier_all();
    for (int i = 0; i < 50; i++)
        shmem_long_p(&block[(size_t)(i * 7919 + me * 13) % count], me * 100 + i, (me + i) % pes);
    shmem_barrier_all();
    osh_note_bytes(block, LARGE / 64);
    for (size_t i = 0; i < count; i += 2)
        block[i] += me; // the program's own
    shmem_fence();
    osh_note((uint64_t)shmem_long_g(&block[2], (me + 1) % pes)); // before or after
    shmem_barrier_all();
    long before = block[0];
    block[0] = 42 + me;
    shmem_barrier_all();
    CHECK(shmem_long_g(&block[0], (me + 1) % pes) == 42 + (me + 1) % pes);
    osh_note((uint64_t)before);
    shmem_barrier_all();
    shmem_free(block);
}

static void addresses(void)
{
    long *mine = shmem_calloc(8, sizeof *mine);

    shmem_barrier_all();
    if (me == 0)
        for (int pe = 1; pe < pes; pe++)
            shmem_putmem(&handed, &(long *){mine + 3}, sizeof handed, pe);
    shmem_barrier_all();
    if (me > 0)
        shmem_long_atomic_add(handed, me, 0);
    shmem_barrier_all();
    CHECK(me != 0 || mine[3] == 1 + 2 + 3);
    shmem_free(mine);
}

int main(void)
{
    start_pes(0);
    me = _my_pe();
    pes = _num_pes();
    comes_and_goes();
    moves();
    is_large();
    addresses();
    printf("rank %d: hash=%016llx\n", me, (unsigned long long)osh_hash);
    return 0;
}
