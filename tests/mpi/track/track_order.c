/* SPDX-License-Identifier: MIT */
// ranks: 2
// natively: 60
// timeout: 60
// about: what is stored before a flag is there when the flag is seen, by whatever way it was
//     stored: loops, structures, copies, fills, bit-fields, messages into the window; a flag is
//     stored again with the value that its writer last knew; a counter under a lock of atomic
//     operations
#include "check.h"

enum { WORDS = 24, ROUNDS = 40 };

struct box {
    volatile long flag, turn;
    struct {
        long words[5];
    } whole, parts[2];
    long looped[WORDS], copied[WORDS], filled[WORDS], received[WORDS];
    struct {
        unsigned first : 5, second : 11, third : 16;
    } bits;
    long count;
    int lock;
};

static struct box *box; // of both

static void wait_for(volatile long *flag, long value)
{
    long polls = 0;

    while (*flag != value)
        if (++polls % 4096 == 0)
            sched_yield();
    check_note(polls);
}

static void produce(long round)
{
    long own[WORDS];

    for (int i = 0; i < WORDS; i++)
        own[i] = round * 100 + i;
    MPI_Sendrecv(own, WORDS, MPI_LONG, check.rank, 0, box->received, WORDS, MPI_LONG, check.rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < WORDS; i++)
        box->looped[i] = own[i];
    box->parts[0].words[2] = round;
    box->parts[1] = box->parts[0];
    box->whole = box->parts[1];
    memcpy(box->copied, own, sizeof own);
    memset(box->filled, (int)round, sizeof box->filled);
    box->bits.second = (unsigned)round;
    box->flag = round;
}

static void consume(long round)
{
    CHECK(box->whole.words[2] == round && box->parts[1].words[2] == round,
          "round %ld: a structure of round %ld", round, box->whole.words[2]);
    for (int i = 0; i < WORDS; i++) {
        CHECK(box->looped[i] == round * 100 + i, "round %ld: word %d is %ld", round, i,
              box->looped[i]);
        CHECK(box->copied[i] == round * 100 + i, "round %ld: copied word %d is %ld", round, i,
              box->copied[i]);
        CHECK((box->filled[i] & 0xff) == round, "round %ld: filled word %d is %lx", round, i,
              box->filled[i]);
        CHECK(box->received[i] == round * 100 + i, "round %ld: received word %d is %ld", round, i,
              box->received[i]);
    }
    CHECK(box->bits.second == round && box->bits.third == round - 1,
          "round %ld: bits of rounds %u and %u", round, box->bits.second, box->bits.third);
    box->bits.third = (unsigned)round;
    box->flag = -round;
}

// Rank 0 stores what it last stored; rank 1 has stored another value meanwhile.
static void repeat(void)
{
    if (check.rank == 0) {
        box->turn = 1;
        wait_for(&box->flag, 1);
        box->turn = 1;
        wait_for(&box->flag, 2);
    } else {
        wait_for(&box->turn, 1);
        box->turn = 0;
        box->flag = 1;
        wait_for(&box->turn, 1);
        box->flag = 2;
    }
}

static void count(void)
{
    for (int i = 0; i < 2000; i++) {
        int polls = 0;
        while (__atomic_exchange_n(&box->lock, 1, __ATOMIC_ACQUIRE))
            if (++polls % 64 == 0)
                sched_yield();
        box->count++;
        __atomic_store_n(&box->lock, 0, __ATOMIC_RELEASE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(box->count == 4000, "%ld were counted", box->count);
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
    MPI_Win_lock_all(0, win);
    if (check.rank == 0)
        memset(box, 0, sizeof *box);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long round = 1; round <= ROUNDS; round++)
        if (check.rank == 0) {
            produce(round);
            wait_for(&box->flag, -round);
        } else {
            wait_for(&box->flag, round);
            consume(round);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    repeat();
    count();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (check.rank > 0)
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
    fflush(stdout);
    return check_end();
}
