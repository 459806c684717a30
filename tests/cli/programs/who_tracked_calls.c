/* SPDX-License-Identifier: MIT */
/* Stores into a shared window, found by plain programs between fences. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, unit;
    volatile long *all, *mine, seen = 0;
    MPI_Win win;
    MPI_Aint bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &all);
    MPI_Win_fence(0, win);
    for (long round = 1; round <= 30; round++) {
        all[(rank + round) % 4 * 2] = 16 * round + rank + 1;
        if (rank == 1 + round % 3)
            all[7] = round % 2 ? 7 : 9;
        MPI_Win_fence(0, win);
        for (int i = 0; i < 8; i++)
            seen += all[i];
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
