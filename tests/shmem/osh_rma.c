/* SPDX-License-Identifier: MIT */
// ranks: 4
// about: puts and gets of all shapes, to others and to the PE itself, in the heap and in static
//     data, with contexts; questions
#include "oshcheck.h"

enum { N = 100 };
static int flag; // static data is symmetric
static double fixed[N] = {7};
static long double wide;
static struct pair {
    char c;
    long l;
} pairs[4]; // with a hole

static void scalars(int *heap)
{
    int next = (me + 1) % pes;

    shmem_int_p(&heap[0], 100 + me, next);
    shmem_longdouble_p(&wide, 1.5L + me, next);
    shmem_barrier_all();
    CHECK(heap[0] == 100 + (me + pes - 1) % pes && wide == 1.5L + (me + pes - 1) % pes);
    osh_note((uint64_t)heap[0]);
    osh_note((uint64_t)shmem_int_g(&heap[0], next));
    CHECK(shmem_longdouble_g(&wide, next) == 1.5L + me);
    shmem_barrier_all();
}

static void blocks(int *heap)
{
    int next = (me + 1) % pes, local[N], back[N];
    double mine[N];

    for (int i = 0; i < N; i++) {
        local[i] = me * 1000 + i;
        mine[i] = me + i / 8.0;
    }
    shmem_int_put(heap, local, N, next);
    shmem_double_put(fixed, mine, N, next);
    shmem_putmem(pairs, &(struct pair){'x', me}, sizeof pairs[0], next);
    shmem_put32(heap + N, local, N, next);
    shmem_quiet();
    shmem_barrier_all();
    CHECK(heap[5] == (me + pes - 1) % pes * 1000 + 5 && heap[N + 7] == heap[7] &&
          pairs[0].l == (me + pes - 1) % pes);
    osh_note_bytes(heap, 2 * N * sizeof *heap);
    osh_note_bytes(fixed, sizeof fixed);
    shmem_int_get(back, heap, N, next);
    CHECK(memcmp(back, local, sizeof back) == 0);
    shmem_getmem(back, heap, 10, (me + 2) % pes);
    osh_note_bytes(back, sizeof back);
    shmem_barrier_all();
}

static void strides(int *heap)
{
    int next = (me + 1) % pes, local[N], back[N] = {0};

    for (int i = 0; i < N; i++) {
        local[i] = me * 100 + i;
        heap[i] = -1;
    }
    shmem_barrier_all();
    shmem_int_iput(heap, local, 3, 2, 20, next);
    shmem_barrier_all();
    CHECK(heap[3] == (me + pes - 1) % pes * 100 + 2 && heap[1] == -1);
    shmem_int_iget(back, heap, 2, 3, 20, next);
    CHECK(back[2] == local[2] && back[1] == 0);
    shmem_iget64(back, heap, 1, 2, 5, me);
    osh_note_bytes(back, sizeof back);
    osh_note_bytes(heap, N * sizeof *heap);
    shmem_barrier_all();
}

static void non_blocking(int *heap)
{
    int next = (me + 1) % pes, first[N] = {0}, second[N] = {0}, local[N];
    shmem_ctx_t ctx;

    for (int i = 0; i < N; i++)
        local[i] = me * 7 + i;
    shmem_int_put_nbi(heap, local, N, next);
    shmem_barrier_all();
    int made = shmem_ctx_create(0, &ctx);
    shmem_int_get_nbi(first, heap, N, next);
    if (made == 0) {
        shmem_ctx_int_get_nbi(ctx, second, heap, N, me);
        shmem_ctx_quiet(ctx);
        CHECK(second[3] == heap[3]);
    }
    shmem_quiet();
    CHECK(memcmp(first, local, sizeof first) == 0);
    osh_note_bytes(first, sizeof first);
    osh_note_bytes(second, sizeof second);
    if (made == 0) {
        shmem_ctx_int_p(ctx, heap, 77 + me, next);
        shmem_ctx_fence(ctx);
        shmem_ctx_destroy(ctx);
    }
    shmem_barrier_all();
    osh_note((uint64_t)heap[0]);
}

static void to_itself(int *heap)
{
    int local[3] = {1, 2, 3};

    heap[10] = 5;
    CHECK(shmem_int_g(&heap[10], me) == 5);
    shmem_int_p(&heap[10], 6, me);
    shmem_quiet();
    CHECK(heap[10] == 6);
    CHECK(shmem_int_atomic_fetch_add(&heap[10], 10, me) == 6);
    CHECK(heap[10] == 16);
    shmem_int_put(heap + 20, local, 3, me);
    shmem_quiet();
    CHECK(heap[22] == 3);
    shmem_int_atomic_inc(&flag, me);
    shmem_quiet();
    CHECK(flag == 1);
    flag = 0;
    CHECK(shmem_int_atomic_fetch(&flag, me) == 0);
    CHECK(shmem_ptr(heap, me) == heap);
    osh_note_bytes(heap, N * sizeof *heap);
    shmem_barrier_all();
}

static void questions(int *heap)
{
    int major, minor, local;
    char name[SHMEM_MAX_NAME_LEN];

    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    CHECK(major >= 1 && *name);
    CHECK(shmem_addr_accessible(heap, (me + 1) % pes) &&
          shmem_addr_accessible(fixed, (me + 1) % pes) &&
          !shmem_addr_accessible(&local, (me + 1) % pes));
    CHECK(shmem_pe_accessible(0) && _my_pe() == me && _num_pes() == pes);
    osh_note((uint64_t)major * 100 + (uint64_t)minor);
    osh_note_bytes(name, strlen(name));
}

int main(void)
{
    osh_begin();
    int *heap = shmem_malloc(2 * N * sizeof *heap);
    scalars(heap);
    blocks(heap);
    strides(heap);
    non_blocking(heap);
    to_itself(heap);
    questions(heap);
    shmem_free(heap);
    return osh_end();
}
