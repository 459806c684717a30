/* SPDX-License-Identifier: MIT */
/* Memory that is attached to a dynamic window and detached again; each value names its writer. */
#include <mpi.h>
#include <stdlib.h>

enum { SLOTS = 8, ROUNDS = 12 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Aint *place = calloc((size_t)size, sizeof *place), own;
    for (int part = 1; part <= 3; part++) {
        volatile long *mine = malloc(SLOTS * sizeof *mine + 64 * (size_t)rank);
        for (int i = 0; i < SLOTS; i++)
            mine[i] = 16 * 1000 + rank + 1;
        MPI_Win_attach(win, (void *)mine, SLOTS * sizeof *mine);
        MPI_Get_address((void *)mine, &own);
        MPI_Allgather(&own, 1, MPI_AINT, place, 1, MPI_AINT, MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        for (int round = 1; round <= ROUNDS; round++) {
            long value = 16 * (100 * part + round) + rank + 1, found = 0;
            int target = (rank + round) % size;
            MPI_Aint at = (target == rank && round % 8 ? own : place[target]) +
                          8 * ((round + rank) % (SLOTS - 1));
            if (round % 2)
                MPI_Put(&value, 1, MPI_LONG, target, at, 1, MPI_LONG, win);
            else
                MPI_Fetch_and_op(&value, &found, MPI_LONG, target, at, MPI_REPLACE, win);
            MPI_Win_flush(target, win);
            mine[SLOTS - 1] = value;
            MPI_Win_sync(win);
            MPI_Barrier(MPI_COMM_WORLD);
            for (int i = 0; i < SLOTS; i++)
                found += mine[i];
            MPI_Get(&found, 1, MPI_LONG, target, place[target] + 8 * (SLOTS - 1), 1, MPI_LONG, win);
            MPI_Win_flush(target, win);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_detach(win, (void *)mine);
        MPI_Barrier(MPI_COMM_WORLD);
        free((void *)mine);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
