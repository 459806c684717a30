/* SPDX-License-Identifier: MIT */
// ranks: 2
// about: a flush completes reads that have a request, before that is waited for: the program may
//     load their results, and store there again
#include "check.h"

enum { WORDS = 4096, READS = 4 };

static void load(const long *memory)
{
    for (int i = 0; i < WORDS; i++)
        check_note((uint64_t)memory[i]);
}

// Several reads under way, some of which the flush of another target does not complete.
static void read_and_flush(MPI_Win win, int target, int all)
{
    static long result[READS + 1][WORDS];
    MPI_Request requests[READS];

    MPI_Get(result[READS], WORDS, MPI_LONG, target, 0, WORDS, MPI_LONG, win);
    for (int i = 0; i < READS; i++)
        MPI_Rget(result[i], WORDS, MPI_LONG, i % 2 ? target : 1 - target, 0, WORDS, MPI_LONG, win,
                 &requests[i]);
    if (all)
        MPI_Win_flush_all(win);
    else
        MPI_Win_flush(target, win);
    load(result[READS]);
    for (int i = 0; i < READS; i++)
        if (all || i % 2) {
            load(result[i]);
            for (int j = 0; j < WORDS; j++)
                result[i][j] = check.rank + i; // its own again
        }
    MPI_Waitall(READS, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < READS; i++)
        load(result[i]);
    MPI_Win_flush_all(win);
}

int main(int argc, char **argv)
{
    long *mine;
    MPI_Win win;

    check_start(&argc, &argv);
    MPI_Win_allocate(WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                     &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < WORDS; i++)
        mine[i] = check.rank * 1000003L + i * 17;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 4; round++)
        read_and_flush(win, round % 2, round > 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
    }
    return check_end();
}
