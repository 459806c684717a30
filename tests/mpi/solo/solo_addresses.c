/* SPDX-License-Identifier: MIT */
// ranks: 3
// about: ranks tell each other where their allocated windows are, and find their own memory by the
//     address that came back
#include "check.h"

enum { WINDOWS = 6, WORDS = 4000 };

static long *mine(long *base)
{
    long *all[64];

    MPI_Allgather(&base, sizeof base, MPI_BYTE, all, sizeof base, MPI_BYTE, MPI_COMM_WORLD);
    return all[check.rank];
}

static void fill(MPI_Win win, long *words, int round)
{
    int next = (check.rank + 1) % check.size;
    long value = 10 * round + check.rank;

    for (int i = 0; i < WORDS; i += 500)
        words[i] = i + round;
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_LONG, next, round, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    check_note(words[round]);
    check_note(words[500]);
}

/* Of each two windows one goes at once, so that memory is given back between others. */
int main(int argc, char **argv)
{
    MPI_Win kept[WINDOWS];
    long *words[WINDOWS];

    check_start(&argc, &argv);
    for (int i = 0; i < WINDOWS; i++) {
        long *base;
        MPI_Win brief;
        MPI_Win_allocate(WORDS * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                         &kept[i]);
        words[i] = mine(base);
        MPI_Win_allocate(WORDS * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                         &brief);
        fill(brief, mine(base), i);
        MPI_Win_free(&brief);
    }
    for (int i = 0; i < WINDOWS; i++) {
        fill(kept[i], words[i], i);
        MPI_Win_free(&kept[i]);
    }
    return check_end();
}
