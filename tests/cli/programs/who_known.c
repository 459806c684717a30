/* SPDX-License-Identifier: MIT */
/* One-sided calls whose writers are known. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, *memory, values[8] = {0}, forty_two = 42, one = 1, zero = 0, found = 0, found_too = 0;
    MPI_Win win;
    MPI_Datatype spread;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    MPI_Win_allocate(8 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 8; i++)
        memory[i] = 0;
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Put(&forty_two, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* PUT */
    MPI_Win_fence(0, win);
    if (rank == 2)
        MPI_Get(values, 2, MPI_INT, 0, 0, 2, MPI_INT, win); /* GET */
    MPI_Win_fence(0, win);
    if (rank == 0)
        memory[3] = 7;
    MPI_Win_fence(0, win); /* OUT */
    if (rank == 2)
        MPI_Get(values + 3, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Fetch_and_op(&one, &found, MPI_INT, 0, 5, MPI_SUM, win); /* ADD */
        MPI_Compare_and_swap(&one, &zero, &found_too, MPI_INT, 0, 6, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 2)
        MPI_Get(values + 5, 2, MPI_INT, 0, 5, 2, MPI_INT, win);
    MPI_Win_unlock_all(win);
    if (rank == 2) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Get(values, 1, spread, 0, 0, 1, spread, win);
        MPI_Win_unlock(0, win);
        printf("RESULT %d %d %d %d\n", values[0], values[3], values[5], values[6]);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
