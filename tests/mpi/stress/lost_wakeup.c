/* SPDX-License-Identifier: MIT */
// ranks: 3
// runs: 40
// finds: hang
// call: MPI_Testsome
// stall: rank 0 waits since [0-9]* s: MPI_Testsome, which says no
// about: rank 0 answers the first of the requests that MPI_Testsome completed, and forgets the
//     others. Workers ask one after the other, two milliseconds apart: rank 0, which does nothing
//     but
// about: poll, mostly finds one at a time.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 3, ASK = 1, ANSWER = 2, TURN = 3, WORKERS = 16, APART_US = 2000 };

static void serve(int workers)
{
    int value[WORKERS], count, indices[WORKERS];
    MPI_Request request[WORKERS];
    MPI_Status status[WORKERS];

    for (int i = 0; i < workers; i++)
        MPI_Irecv(&value[i], 1, MPI_INT, i + 1, ASK, MPI_COMM_WORLD, &request[i]);
    for (int left = workers * ROUNDS; left > 0; left--) {
        do
            MPI_Testsome(workers, request, &count, indices, status);
        while (count == 0);
        int first = indices[0]; // the bug: there may be others
        MPI_Send(&value[first], 1, MPI_INT, first + 1, ANSWER, MPI_COMM_WORLD);
        MPI_Irecv(&value[first], 1, MPI_INT, first + 1, ASK, MPI_COMM_WORLD, &request[first]);
    }
    for (int i = 0; i < workers; i++) {
        MPI_Cancel(&request[i]);
        MPI_Wait(&request[i], &status[i]);
    }
}

static void ask(int rank, int workers)
{
    int token = 0, before = rank == 1 ? workers : rank - 1, next = rank == workers ? 1 : rank + 1;

    for (int round = 0; round < ROUNDS; round++) {
        if (rank > 1 || round > 0)
            MPI_Recv(&token, 1, MPI_INT, before, TURN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(APART_US);
        MPI_Send(&round, 1, MPI_INT, 0, ASK, MPI_COMM_WORLD);
        if (rank < workers || round < ROUNDS - 1)
            MPI_Send(&token, 1, MPI_INT, next, TURN, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        serve(size - 1);
    else
        ask(rank, size - 1);
    if (rank == 0)
        puts("RESULT all answered");
    MPI_Finalize();
    return 0;
}
