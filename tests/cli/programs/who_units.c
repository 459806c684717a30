/* SPDX-License-Identifier: MIT */
/* Windows with other displacement units, on parts of the ranks in another order. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, members, place;
    long *memory, found;
    MPI_Comm half;
    MPI_Win win, all;
    MPI_Request request;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &place);
    MPI_Comm_size(half, &members);
    MPI_Win_allocate(80, rank % 2 ? 8 : 1, MPI_INFO_NULL, half, &memory, &win);
    MPI_Win_allocate(80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &all);
    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, all);
    for (long i = 1; i <= 30; i++) {
        long value = 10 * i + rank;
        MPI_Aint at = (i % 10) * (rank % 2 ? 1 : 8);
        MPI_Rput(&value, 1, MPI_LONG, (place + 1) % members, at, 1, MPI_LONG, win, &request);
        MPI_Wait(&request, &status);
        MPI_Win_flush_all(win);
        MPI_Rget(&found, 1, MPI_LONG, (place + 1) % members, at, 1, MPI_LONG, win, &request);
        MPI_Wait(&request, &status);
        MPI_Fetch_and_op(&value, &found, MPI_LONG, (rank + 1) % 4, 3, MPI_REPLACE, all);
        MPI_Win_flush((rank + 1) % 4, all);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_unlock_all(all);
    MPI_Win_free(&win);
    MPI_Win_free(&all);
    MPI_Finalize();
    return 0;
}
