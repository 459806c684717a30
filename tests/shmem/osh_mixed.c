/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI and OpenSHMEM in one program: messages tell of what was put
#include "oshcheck.h"

#include <mpi.h>

static long box[4];

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    osh_begin();
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(rank == me && size == pes);
    long *heap = shmem_calloc(4, sizeof *heap);
    for (int round = 0; round < 10; round++) {
        if (me == 0) {
            for (int i = 1; i < pes; i++) {
                MPI_Status status;
                int what;
                MPI_Recv(&what, 1, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
                CHECK(box[status.MPI_SOURCE] == 100 * round + status.MPI_SOURCE &&
                      heap[status.MPI_SOURCE] == what);
                osh_note((uint64_t)status.MPI_SOURCE);
                osh_note((uint64_t)box[status.MPI_SOURCE]);
            }
        } else {
            if (round % 3 == me % 3)
                osh_pause(2);
            shmem_long_p(&box[me], 100 * round + me, 0);
            shmem_long_p(&heap[me], round * me, 0);
            shmem_quiet();
            MPI_Send(&(int){round * me}, 1, MPI_INT, 0, round, MPI_COMM_WORLD);
            osh_note((uint64_t)shmem_long_atomic_fetch_inc(&heap[0], 0));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    shmem_barrier_all();
    osh_note((uint64_t)shmem_long_g(&heap[0], 0));
    return osh_end();
}
