/* SPDX-License-Identifier: MIT */
// ranks: 3
// timeout: 120
// about: windows of the unified model: updates of the own window are seen after a flush, those of
//     others after a message or a barrier, sometime also without; counters are never seen torn,
//     neighbours in a word are not lost
#include "check.h"

enum { WORDS = 16, OWN = 0, TOLD = 1, FLAG = 2, COUNTER = 3, HALVES = 4, BYTES = 5 };

static MPI_Win win;
static volatile long *mine;

// Between two barriers, so that nobody else is there yet or still.
static void begin(void)
{
    for (int i = 0; i < WORDS; i++)
        mine[i] = 0;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void end(void)
{
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void own_updates(void)
{
    long value = 1000 + check.rank, one = 1, before = -1;

    begin();
    MPI_Put(&value, 1, MPI_LONG, check.rank, OWN, 1, MPI_LONG, win);
    MPI_Win_flush(check.rank, win);
    CHECK(mine[OWN] == value, "its own put is not seen: %ld", mine[OWN]);
    mine[OWN] = 7;
    MPI_Fetch_and_op(&one, &before, MPI_LONG, check.rank, OWN, MPI_SUM, win);
    MPI_Win_flush(check.rank, win);
    CHECK(before == 7 && mine[OWN] == 8, "its own store is not seen: %ld, %ld", before, mine[OWN]);
    for (int i = 0; i < 100; i++) // more than are kept apart
        MPI_Accumulate(&one, 1, MPI_LONG, check.rank, OWN, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush_all(win);
    CHECK(mine[OWN] == 108, "its own updates are not seen: %ld", mine[OWN]);
    end();
}

static void told(void)
{
    int next = (check.rank + 1) % check.size, before = (check.rank + check.size - 1) % check.size;
    long value = 0;
    MPI_Request request;

    begin();
    for (int i = 1; i <= 5; i++) {
        MPI_Irecv(NULL, 0, MPI_LONG, before, 1, MPI_COMM_WORLD, &request);
        value = i * 10 + check.rank;
        MPI_Put(&value, 1, MPI_LONG, next, TOLD, 1, MPI_LONG, win);
        MPI_Win_flush(next, win);
        MPI_Ssend(NULL, 0, MPI_LONG, next, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(mine[TOLD] == i * 10 + before, "not seen after a message: %ld", mine[TOLD]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    end();
}

// Nothing but accesses to another rank is done meanwhile.
static void sometime(void)
{
    int next = (check.rank + 1) % check.size;
    long one = 1, got, tries = 0;

    begin();
    check_pace(check.rank);
    MPI_Put(&one, 1, MPI_LONG, next, FLAG, 1, MPI_LONG, win);
    MPI_Win_flush(next, win);
    while (mine[FLAG] == 0) {
        MPI_Get(&got, 1, MPI_LONG, next, OWN, 1, MPI_LONG, win);
        MPI_Win_flush(next, win);
        tries++;
    }
    check_note(tries);
    end();
}

// Sums that run through 255 and 256 again and again, neighbours of four bytes and of one.
static void neighbours(void)
{
    volatile int *half = (volatile int *)&mine[HALVES];
    volatile unsigned char *byte = (volatile unsigned char *)&mine[BYTES];
    long step = 85, last = 0;

    begin();
    for (int i = 1; i <= 200; i++) {
        int next = (check.rank + 1) % check.size;
        unsigned char low = (unsigned char)i;
        MPI_Accumulate(&step, 1, MPI_LONG, next, COUNTER, 1, MPI_LONG, MPI_SUM, win);
        MPI_Put(&i, 1, MPI_INT, next, HALVES, 1, MPI_INT, win);
        MPI_Put(&low, 1, MPI_BYTE, next, BYTES, 1, MPI_BYTE, win);
        half[1] = -i;
        byte[1] = (unsigned char)(i + 1);
        MPI_Win_flush(next, win);
        MPI_Win_sync(win);
        long now = mine[COUNTER];
        CHECK(now % step == 0 && now >= last, "a sum that never was: %ld after %ld", now, last);
        CHECK(half[1] == -i && byte[1] == (unsigned char)(i + 1), "its own store is lost");
        check_note(now);
        last = now;
    }
    end();
    MPI_Win_sync(win);
    CHECK(mine[COUNTER] == 200 * step && half[0] == 200 && byte[0] == 200,
          "a store of another is lost: %ld, %d, %d", mine[COUNTER], half[0], byte[0]);
}

static void without_locks(void)
{
    long value = 5 + check.rank;
    int next = (check.rank + 1) % check.size;

    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Put(&value, 1, MPI_LONG, next, TOLD, 1, MPI_LONG, win);
    MPI_Win_unlock(next, win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(mine[TOLD] == 5 + (check.rank + check.size - 1) % check.size,
          "not seen after a barrier: %ld", mine[TOLD]);
}

int main(int argc, char **argv)
{
    int *model, flag;
    void *base;

    check_start(&argc, &argv);
    MPI_Win_allocate(WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                     &win);
    mine = base;
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    if (!flag || *model != MPI_WIN_UNIFIED) {
        printf("SKIP: no unified model\n");
        fflush(stdout);
        return check_end();
    }
    MPI_Win_lock_all(0, win);
    own_updates();
    told();
    sometime();
    neighbours();
    without_locks();
    MPI_Win_free(&win);
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
    }
    return check_end();
}
