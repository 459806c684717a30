/* SPDX-License-Identifier: MIT */
/*
 * In each iteration every rank exchanges something with every other, by MPI_Isendrecv and
 * MPI_Isendrecv_replace that receive from anyone. The order in which they came goes into a sum that
 * is told to the next rank, as in anyone.c.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "reprise.h"

enum { ITERATIONS = 24, MOST = 16 };

static int rank, size, sent[MOST], from[MOST];
static unsigned long mine, own, theirs, all;

static void begin(int i, MPI_Request *requests)
{
    for (int k = 0; k < size; k++) {
        int to = (rank + k) % size;
        sent[k] = from[k] = rank * 1000 + i;
        if (k % 2)
            MPI_Isendrecv(&sent[k], 1, MPI_INT, to, i, &from[k], 1, MPI_INT, MPI_ANY_SOURCE, i,
                          MPI_COMM_WORLD, &requests[k]);
        else
            MPI_Isendrecv_replace(&from[k], 1, MPI_INT, to, i, MPI_ANY_SOURCE, i, MPI_COMM_WORLD,
                                  &requests[k]);
    }
}

static void take(int i, int k, const MPI_Status *status)
{
    if (from[k] != status->MPI_SOURCE * 1000 + i || status->MPI_TAG != i) {
        fprintf(stderr, "rank %d: %d came from rank %d in iteration %d\n", rank, from[k],
                status->MPI_SOURCE, i);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    mine = mine * 31 + (unsigned long)status->MPI_SOURCE + 1;
    all += (unsigned long)from[k];
}

static void complete(int i, MPI_Request *requests)
{
    MPI_Status statuses[MOST];
    int indices[MOST], count, flag = 0;

    switch (i % 4) {
    case 0:
        MPI_Waitall(size, requests, statuses);
        for (int k = 0; k < size; k++)
            take(i, k, &statuses[k]);
        break;
    case 1:
        while (MPI_Waitany(size, requests, &count, statuses), count != MPI_UNDEFINED)
            take(i, count, statuses);
        break;
    case 2:
        while (MPI_Testsome(size, requests, &count, indices, statuses), count != MPI_UNDEFINED)
            for (int k = 0; k < count; k++)
                take(i, indices[k], &statuses[k]);
        break;
    default:
        for (int k = 0; k < size; k++, flag = 0) {
            while (!flag)
                MPI_Test(&requests[k], &flag, statuses);
            take(i, k, statuses);
        }
    }
}

int main(int argc, char **argv)
{
    unsigned long told = 0;
    MPI_Request requests[MOST];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    reprise_protect(0, &mine, sizeof mine);
    reprise_protect(1, &theirs, sizeof theirs);
    reprise_protect(2, &all, sizeof all);
    reprise_protect(3, &own, sizeof own);
    REPRISE_LOOP(i, 0, ITERATIONS)
    {
        begin((int)i, requests);
        complete((int)i, requests);
        MPI_Isendrecv(&mine, 1, MPI_UNSIGNED_LONG, (rank + 1) % size, 99, &told, 1,
                      MPI_UNSIGNED_LONG, (rank + size - 1) % size, 99, MPI_COMM_WORLD, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
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
