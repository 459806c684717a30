/* SPDX-License-Identifier: MIT */
// ranks: 2
// natively: 60
// timeout: 60
// about: loops over window memory into which another rank stores meanwhile: forwards, backwards,
//     with steps, by words and by bytes, with stores between the loads, some loads made on
//     condition, one place loaded twice; window memory and the rank's own in one loop; short loops
#include "check.h"

enum { WORDS = 1024, ROUNDS = 400 };

static long *mine, *theirs; // parts of a shared window
static long own[WORDS + 2];

__attribute__((noinline)) static void disturb(int round)
{
    volatile long *words = theirs;

    for (int i = round % 7; i < WORDS; i += 7)
        words[i] = (long)(check_mix((uint64_t)(i + 1000 * round)) &
                          0x3fff3fff3fff3fff); // no floating-point number is not one
}

__attribute__((noinline)) static uint64_t words_of(const long *words, int count)
{
    uint64_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += (uint64_t)words[i];
    return sum;
}

__attribute__((noinline)) static uint64_t bytes_of(const unsigned char *bytes, int count)
{
    unsigned sum = 0;

    for (int i = 0; i < count; i++)
        sum += bytes[i];
    return sum;
}

__attribute__((noinline)) static uint64_t in_order(const int *words, int count)
{
    uint64_t mixed = 0;

    for (int i = 0; i < count; i++)
        mixed = mixed * 31 + (uint64_t)words[i];
    return mixed;
}

__attribute__((noinline)) static uint64_t backwards(const float *numbers, int count)
{
    float sum = 0;

    for (int i = count - 1; i >= 0; i--)
        sum = sum / 2 + numbers[i];
    return (uint64_t)(int64_t)sum;
}

__attribute__((noinline)) static uint64_t by_steps(const short *words, int count, int step)
{
    uint64_t mixed = 0;

    for (int i = 0; i < count; i += 5)
        mixed = mixed * 31 + (uint64_t)words[i];
    for (int i = 0; i < count; i += step)
        mixed = mixed * 31 + (uint64_t)words[i];
    return mixed;
}

/* Each result is used by the next. */
__attribute__((noinline)) static void smooth(long *words, int count)
{
    for (int i = 1; i < count - 1; i++)
        words[i] = (words[i - 1] + words[i + 1]) >> 1;
}

/* The ends are not there: as rows of a field. */
__attribute__((noinline)) static void relax(const long *from, long *to, int count)
{
    for (int i = 0; i < count; i++) {
        long left = i > 0 ? from[i - 1] : 7, right = i < count - 1 ? from[i + 1] : 9;
        to[i] = (left + right + from[i]) >> 1;
    }
}

__attribute__((noinline)) static uint64_t on_condition(const long *words, const long *marks,
                                                       int count)
{
    uint64_t mixed = 0;

    for (int i = 0; i < count; i++)
        if (marks[i] & 1)
            mixed = mixed * 31 + (uint64_t)words[i];
    return mixed;
}

/* With a store between them. */
__attribute__((noinline)) static uint64_t twice(const long *words, long *copies, int count)
{
    uint64_t changed = 0;

    for (int i = 0; i < count; i++) {
        long first = words[i];
        copies[i] = first;
        changed += first != words[i];
    }
    return changed;
}

__attribute__((noinline)) static void set(long *words, int count, long value)
{
    for (int i = 0; i < count; i++)
        words[i] = value;
}

__attribute__((noinline)) static void add(long *words, int count, long more)
{
    for (int i = 0; i < count; i++)
        words[i] += more;
}

/* Without MPI, which looks at windows. */
static void meet(int time)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    ((volatile long *)theirs)[WORDS] = time;
    while (((volatile long *)mine)[WORDS] < time)
        sched_yield();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Where a rank has stored, another stores what was there before. */
static void give_back(long before, int by_adding)
{
    static volatile int some = 65; // so that there is a loop
    enum { FIRST = 700 };
    const int count = some;

    mine[WORDS] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    set(mine + FIRST, count, before);
    CHECK(words_of(mine + FIRST, count) == (uint64_t)count * (uint64_t)before,
          "rank %d does not see what it stored", check.rank);
    if (by_adding)
        add(mine + FIRST, count, 1);
    else
        set(mine + FIRST, count, before + 1);
    meet(1);
    for (int i = 0; i < count; i++)
        ((volatile long *)theirs)[FIRST + i] = before;
    meet(2);
    CHECK(words_of(mine + FIRST, count) == (uint64_t)count * (uint64_t)before,
          "rank %d does not see what was given back", check.rank);
}

static void note_all(int round)
{
    int count = WORDS - round % 5;

    check_note((long)words_of(mine, count));
    check_note((long)bytes_of((unsigned char *)mine + round % 3, count));
    check_note((long)in_order((int *)mine, count));
    check_note((long)backwards((float *)mine, count));
    check_note((long)by_steps((short *)mine, count, 3 + round % 4));
    smooth(mine + 3, 200);
    relax(mine, own, count);
    check_note((long)words_of(own, count));
    relax(own, mine + 300, 300);
    check_note((long)on_condition(mine, own, count));
    check_note((long)on_condition(own, mine, count));
    check_note((long)twice(mine, own, count));
    check_note((long)twice(own, mine + 100, 50));
    check_note((long)words_of(own, WORDS));
    check_note((long)words_of(mine - 1, 3));
    check_note((long)words_of(mine, round % 4));
}

int main(int argc, char **argv)
{
    MPI_Aint size;
    MPI_Win win;
    int unit;

    check_start(&argc, &argv);
    // A word at each end into which nobody stores
    MPI_Win_allocate_shared((WORDS + 2) * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD,
                            &mine, &win);
    MPI_Win_shared_query(win, 1 - check.rank, &size, &unit, &theirs);
    mine++, theirs++;
    for (int i = -1; i <= WORDS; i++)
        mine[i] = i + check.rank;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        disturb(round);
        note_all(round);
        if (round % 16 == 0)
            sched_yield();
        if (round % 100 == 99)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    give_back(5, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    give_back(5, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (check.rank > 0)
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
    fflush(stdout);
    return check_end();
}
