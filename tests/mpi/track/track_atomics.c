/* SPDX-License-Identifier: MIT */
// ranks: 2
// natively: 60
// timeout: 60
// about: atomic operations that read and write window memory, of all forms and sizes: each gives
//     what it should where no other rank stores, and what it gave where both do; locks, a turn by
//     comparing, counters of which only a bit or zero is looked at
#include "check.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { ROUNDS = 300 };

struct box {
    unsigned char bytes[2][4];
    unsigned short halves[2][4];
    unsigned words[2][4];
    unsigned long longs[2][4];
    atomic_flag flag;
    atomic_int counter;
    _Atomic unsigned bits;
    void *pointer;
    int lock, turn;
    long count[2];
};

static struct box *box; // of both

// One form on a place of the rank's own, against what it should give and leave; and on one that
// both use.
#define TRY(type, place, call, gives, leaves)                                                      \
    do {                                                                                           \
        type *at = &(place)[check.rank], value = (type)(round * 37 + 11), old = *at, got;          \
        got = (type)(call);                                                                        \
        CHECK(got == (type)(gives) && *at == (type)(leaves),                                       \
              "%s: %lu became %lu, and %lu was given", #call, (unsigned long)old,                  \
              (unsigned long)*at, (unsigned long)got);                                             \
        at = &(place)[2];                                                                          \
        check_note((long)(type)(call));                                                            \
    } while (0)

#define TRY_ALL(name, type, place)                                                                 \
    __attribute__((noinline)) static void name(int round)                                          \
    {                                                                                              \
        TRY(type, place, __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST), old, old + value);       \
        TRY(type, place, __atomic_fetch_sub(at, value, __ATOMIC_RELAXED), old, old - value);       \
        TRY(type, place, __atomic_fetch_or(at, value, __ATOMIC_ACQUIRE), old, old | value);        \
        TRY(type, place, __atomic_fetch_xor(at, value, __ATOMIC_RELEASE), old, old ^ value);       \
        TRY(type, place, __atomic_fetch_nand(at, value, __ATOMIC_SEQ_CST), old, ~(old & value));   \
        TRY(type, place, __atomic_fetch_and(at, value, __ATOMIC_ACQ_REL), old, old &value);        \
        TRY(type, place, __atomic_add_fetch(at, value, __ATOMIC_SEQ_CST), old + value,             \
            old + value);                                                                          \
        TRY(type, place, __atomic_sub_fetch(at, value, __ATOMIC_SEQ_CST), old - value,             \
            old - value);                                                                          \
        TRY(type, place, __atomic_or_fetch(at, value, __ATOMIC_SEQ_CST), old | value,              \
            old | value);                                                                          \
        TRY(type, place, __atomic_xor_fetch(at, value, __ATOMIC_SEQ_CST), old ^ value,             \
            old ^ value);                                                                          \
        TRY(type, place, __atomic_nand_fetch(at, value, __ATOMIC_SEQ_CST), ~(old & value),         \
            ~(old & value));                                                                       \
        TRY(type, place, __atomic_and_fetch(at, value, __ATOMIC_SEQ_CST), old &value, old &value); \
        TRY(type, place, __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST), old, value);            \
        TRY(type, place, __sync_fetch_and_add(at, value), old, old + value);                       \
        TRY(type, place, __sync_fetch_and_xor(at, value), old, old ^ value);                       \
        TRY(type, place, __sync_sub_and_fetch(at, value), old - value, old - value);               \
        TRY(type, place, __sync_or_and_fetch(at, value), old | value, old | value);                \
        TRY(type, place, __sync_lock_test_and_set(at, value), old, value);                         \
        TRY(type, place, __sync_val_compare_and_swap(at, old, value), old, value);                 \
        TRY(type, place, __sync_val_compare_and_swap(at, (type)(old + 1), 5), old, old);           \
        TRY(type, place, __sync_bool_compare_and_swap(at, old, (type)(value + 9)), 1, value + 9);  \
        TRY(type, place, __sync_bool_compare_and_swap(at, (type)(old + 1), 5), 0, old);            \
        type *mine = &(place)[check.rank], expected = (type)(*mine + 1), before = *mine;           \
        CHECK(!__atomic_compare_exchange_n(mine, &expected, 7, false, __ATOMIC_SEQ_CST,            \
                                           __ATOMIC_RELAXED) &&                                    \
                  expected == before,                                                              \
              "a comparison gave %lu", (unsigned long)expected);                                   \
        CHECK(__atomic_compare_exchange_n(mine, &expected, 7, false, __ATOMIC_SEQ_CST,             \
                                          __ATOMIC_RELAXED) &&                                     \
                  *mine == 7,                                                                      \
              "an exchange left %lu", (unsigned long)*mine);                                       \
        expected = (type)round;                                                                    \
        check_note(__atomic_compare_exchange_n(&(place)[3], &expected, (type)(round + 1), true,    \
                                               __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));               \
        check_note((long)expected);                                                                \
    }

TRY_ALL(try_bytes, unsigned char, box->bytes[0])
TRY_ALL(try_halves, unsigned short, box->halves[0])
TRY_ALL(try_words, unsigned, box->words[0])
TRY_ALL(try_longs, unsigned long, box->longs[0])

/* What the compiler may know better instructions for. */
static void try_bits(int round)
{
    unsigned bit = 1u << (round % 32);

    check_note((atomic_fetch_or(&box->bits, bit) & bit) != 0);
    check_note((atomic_fetch_and(&box->bits, ~4u) & 4) != 0);
    check_note((atomic_fetch_xor(&box->bits, 2u) & 2) != 0);
    check_note(atomic_fetch_add(&box->counter, 1) == -1);
    check_note(atomic_fetch_sub(&box->counter, 1) == 1);
    check_note(__atomic_sub_fetch(&box->words[1][3], 1, __ATOMIC_SEQ_CST) == 0);
    check_note((int)__atomic_add_fetch(&box->words[1][2], 3, __ATOMIC_SEQ_CST) < 0);
    check_note(__atomic_exchange_n(&box->pointer, (void *)(uintptr_t)round, __ATOMIC_SEQ_CST) ==
               NULL);
}

/* Variables whose place others know. */
__attribute__((noinline)) static bool take(int *place, int *expected, int value)
{
    return __atomic_compare_exchange_n(place, expected, value, true, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void count(void)
{
    for (int i = 0; i < 500; i++) {
        int expected = 0, polls = 0;
        while (!take(&box->lock, &expected, 1)) {
            expected = 0;
            if (++polls % 64 == 0)
                sched_yield();
        }
        box->count[0]++;
        __sync_lock_release(&box->lock);
        while (atomic_flag_test_and_set(&box->flag))
            if (++polls % 64 == 0)
                sched_yield();
        box->count[1]++;
        atomic_flag_clear(&box->flag);
        check_note(polls);
    }
    for (int i = 0; i < 100; i++)
        for (int polls = 1, expected = 2 * i + check.rank;
             !__atomic_compare_exchange_n(&box->turn, &expected, 2 * i + check.rank + 1, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
             polls++) {
            expected = 2 * i + check.rank;
            if (polls % 64 == 0)
                sched_yield();
        }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(box->count[0] == 1000 && box->count[1] == 1000 && box->turn == 200,
          "%ld and %ld were counted, %d turns", box->count[0], box->count[1], box->turn);
}

int main(int argc, char **argv)
{
    MPI_Aint size;
    MPI_Win win;
    int unit;

    check_start(&argc, &argv);
    MPI_Win_allocate_shared(check.rank == 0 ? sizeof *box : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                            &box, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &box);
    if (check.rank == 0)
        memset(box, 0, sizeof *box);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        try_bytes(round);
        try_halves(round);
        try_words(round);
        try_longs(round);
        try_bits(round);
    }
    count();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (check.rank > 0)
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
    fflush(stdout);
    return check_end();
}
