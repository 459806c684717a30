/* SPDX-License-Identifier: MIT */
/*
 * In each iteration every rank sends to every rank, itself too, and receives from anyone. The order
 * in which they came goes into a sum that is told to the next rank, which keeps it: in the end it
 * must be the sum that the rank has itself. A rank that runs again must therefore take the same
 * messages in the same order as before; when all go back, all may take others.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "reprise.h"

enum { ITERATIONS = 24, MOST = 64 };

int main(int argc, char **argv)
{
    int rank, size, sent[MOST], from[MOST];
    unsigned long mine = 0, own = 0, theirs = 0, told = 0, all = 0;
    MPI_Request requests[MOST];
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    reprise_protect(0, &mine, sizeof mine);
    reprise_protect(1, &theirs, sizeof theirs);
    reprise_protect(2, &all, sizeof all);
    reprise_protect(3, &own, sizeof own);
    REPRISE_LOOP(i, 0, ITERATIONS)
    {
        for (int to = 0; to < size; to++) {
            sent[to] = rank * 1000 + (int)i;
            MPI_Isend(&sent[to], 1, MPI_INT, (rank + to) % size, (int)i, MPI_COMM_WORLD,
                      &requests[to]);
        }
        for (int k = 0; k < size; k++) {
            MPI_Recv(&from[k], 1, MPI_INT, MPI_ANY_SOURCE, (int)i, MPI_COMM_WORLD, &status);
            if (from[k] != status.MPI_SOURCE * 1000 + i) {
                fprintf(stderr, "rank %d: %d came from rank %d in iteration %ld\n", rank, from[k],
                        status.MPI_SOURCE, i);
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
            mine = mine * 31 + (unsigned long)status.MPI_SOURCE + 1;
            all += (unsigned long)from[k];
        }
        MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
        MPI_Sendrecv(&mine, 1, MPI_UNSIGNED_LONG, (rank + 1) % size, 99, &told, 1,
                     MPI_UNSIGNED_LONG, (rank + size - 1) % size, 99, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        own = own * 17 + mine;
        theirs = theirs * 17 + told;
    }
    MPI_Sendrecv(&theirs, 1, MPI_UNSIGNED_LONG, (rank + size - 1) % size, 98, &told, 1,
                 MPI_UNSIGNED_LONG, (rank + 1) % size, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (told != own) {
        fprintf(stderr, "rank %d: the messages came in another order than the next rank was told\n",
                rank);
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
    if (rank == 0)
        printf("RESULT all=%lu\n", all);
    MPI_Finalize();
    return 0;
}
