/* SPDX-License-Identifier: MIT */
// ranks: 3
// natively: 60
// about: a window whose unit exceeds an int, which MPICH 5.0.2 does not take
#include "check.h"

#if MPI_VERSION >= 4

enum { WORDS = 64 };

int main(int argc, char **argv)
{
    static long mine[WORDS];
    const MPI_Aint unit = 6000000000;
    long value, got = -1;
    int next;
    MPI_Win win;

    check_start(&argc, &argv);
    value = 7 + check.rank;
    next = (check.rank + 1) % check.size;
    MPI_Win_create_c(mine, sizeof mine, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put_c(&value, 1, MPI_LONG, next, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Get_c(&got, 1, MPI_LONG, check.rank, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    check_note(got);
    MPI_Win_free(&win);
    check_note(mine[0]);
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
    }
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}

#endif
