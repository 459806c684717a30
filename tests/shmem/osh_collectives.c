/* SPDX-License-Identifier: MIT */
// ranks: 4
// about: all collective calls, over all PEs and over some of them
#include "oshcheck.h"

enum { N = 64 };
static long sync_a[SHMEM_COLLECT_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE + 64],
    sync_b[SHMEM_COLLECT_SYNC_SIZE + 64];
static int int_work[N + 64];
static double double_work[N + 64];
static long many[4 * N];

static void fill(long *sync, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sync[i] = SHMEM_SYNC_VALUE;
}

static void data(long *target, long *source)
{
    for (int i = 0; i < N; i++)
        source[i] = me * 1000 + i;
    shmem_barrier_all();
    shmem_broadcast64(target, source, N, 1, 0, 0, pes, sync_a);
    shmem_barrier_all();
    CHECK(me == 1 || target[3] == 1003);
    osh_note_bytes(target, N * sizeof *target);
    shmem_collect64(many, source, (size_t)(me + 1), 0, 0, pes, sync_b);
    CHECK(many[1] == 1000 && many[3] == 2000);
    shmem_barrier_all();
    shmem_fcollect64(many, source, N, 0, 0, pes, sync_a);
    CHECK(many[2 * N + 5] == 2005);
    osh_note_bytes(many, sizeof many);
    shmem_barrier_all();
    shmem_alltoall64(many, source, 2, 0, 0, pes, sync_b);
    CHECK(many[2] == 1000 + 2 * me);
    shmem_barrier_all();
    shmem_alltoalls64(many, source, 2, 3, 2, 0, 0, pes, sync_a);
    osh_note_bytes(many, sizeof many);
    shmem_barrier_all();
}

static void reductions(int *target, int *source)
{
    double *from = (double *)(source + N), *to = (double *)(target + N);

    for (int i = 0; i < N; i++)
        source[i] = me + i;
    for (int i = 0; i < 8; i++)
        from[i] = me + 0.25;
    shmem_barrier_all();
    shmem_int_sum_to_all(target, source, N, 0, 0, pes, int_work, sync_a);
    CHECK(target[1] == 0 + 1 + 2 + 3 + pes);
    osh_note_bytes(target, N * sizeof *target);
    shmem_barrier_all();
    shmem_double_prod_to_all(to, from, 8, 0, 0, pes, double_work, sync_b);
    osh_note_bytes(to, 8 * sizeof *to);
    shmem_barrier_all();
    shmem_int_max_to_all(target, source, N, 0, 0, pes, int_work, sync_a);
    CHECK(target[0] == pes - 1);
    shmem_barrier_all();
    shmem_int_xor_to_all(target, source, N, 0, 0, pes, int_work, sync_b);
    osh_note_bytes(target, N * sizeof *target);
    shmem_barrier_all();
}

// PEs 0 and 2.
static void some(int *target, int *source)
{
    if (me % 2 == 0) {
        source[0] = me + 5;
        shmem_barrier(0, 1, pes / 2, sync_a);
        shmem_int_sum_to_all(target, source, 1, 0, 1, pes / 2, int_work, sync_b);
        CHECK(target[0] == 12);
        shmem_sync(0, 1, pes / 2, sync_a);
    }
    shmem_sync_all();
    osh_note((uint64_t)target[0]);
}

int main(void)
{
    osh_begin();
    fill(sync_a, sizeof sync_a / sizeof *sync_a);
    fill(sync_b, sizeof sync_b / sizeof *sync_b);
    long *target = shmem_calloc(2 * N, sizeof *target),
         *source = shmem_calloc(2 * N, sizeof *source);
    shmem_barrier_all();
    data(target, source);
    reductions((int *)target, (int *)source);
    some((int *)target, (int *)source);
    return osh_end();
}
