/* SPDX-License-Identifier: MIT */
/*
 * In each iteration every rank asks about several requests at once (MPI 4.1): receives from anyone,
 * persistent ones, and a generalized request. What was answered, and how often no, goes into a sum
 * that is told to the next rank, as in anyone.c.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "reprise.h"

#if MPI_VERSION * 10 + MPI_SUBVERSION < 41
int MPI_Request_get_status_any(int count, const MPI_Request *requests, int *index, int *flag,
                               MPI_Status *status);
int MPI_Request_get_status_all(int count, const MPI_Request *requests, int *flag,
                               MPI_Status *statuses);
int MPI_Request_get_status_some(int count, const MPI_Request *requests, int *outcount, int *indices,
                                MPI_Status *statuses);
#endif

enum { ITERATIONS = 24, MOST = 16 };

static int rank, size, own, got[MOST];
static unsigned long mine, sum, theirs, all;
static MPI_Request requests[MOST], persistent;

static void check(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static int query(void *unused, MPI_Status *status)
{
    (void)unused;
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = rank;
    status->MPI_TAG = 55;
    return MPI_SUCCESS;
}

static int release(void *unused)
{
    (void)unused;
    return MPI_SUCCESS;
}

static int cancel(void *unused, int is_complete)
{
    (void)unused, (void)is_complete;
    return MPI_SUCCESS;
}

static void note(int i, int k, const MPI_Status *status)
{
    if (k == own)
        check(status->MPI_TAG == 55 && status->MPI_SOURCE == rank, "another status");
    else
        check(got[k] == status->MPI_SOURCE * 1000 + i, "another message");
    mine = mine * 31 + (unsigned long)(status->MPI_SOURCE + k + 1);
}

/* The last receive is persistent; the program's own request is behind it. */
static void begin(int i)
{
    own = size - 1;
    for (int k = 0; k < size - 2; k++)
        MPI_Irecv(&got[k], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[k]);
    MPI_Start(&persistent);
    requests[size - 2] = persistent;
    MPI_Grequest_start(query, release, cancel, NULL, &requests[own]);
    for (int to = 0; to < size; to++) {
        int value = rank * 1000 + i;
        if (to != rank)
            MPI_Send(&value, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
    }
}

static void by_any(int i)
{
    int index, flag;
    MPI_Status status;

    MPI_Grequest_complete(requests[own]);
    for (;;) {
        MPI_Request_get_status_any(size, requests, &index, &flag, &status);
        mine = mine * 3 + (unsigned long)!flag;
        if (flag && index == MPI_UNDEFINED)
            return;
        if (!flag)
            continue;
        note(i, index, &status);
        MPI_Wait(&requests[index], MPI_STATUS_IGNORE);
    }
}

static void by_some(int i)
{
    int count, indices[MOST], done = 0;
    MPI_Status statuses[MOST];

    for (;;) {
        MPI_Request_get_status_some(size, requests, &count, indices, statuses);
        if (count == MPI_UNDEFINED)
            return;
        mine = mine * 7 + (unsigned long)count;
        for (int k = 0; k < count; k++) {
            note(i, indices[k], &statuses[k]);
            MPI_Wait(&requests[indices[k]], MPI_STATUS_IGNORE);
        }
        done += count;
        if (done == size - 1 && count > 0)
            MPI_Grequest_complete(requests[own]);
    }
}

static void by_all(int i)
{
    int flag = 0;
    MPI_Status statuses[MOST];

    MPI_Request_get_status_all(size, requests, &flag, statuses);
    check(!flag, "all are complete too soon");
    MPI_Grequest_complete(requests[own]);
    for (; !flag; mine = mine * 3 + (unsigned long)!flag)
        MPI_Request_get_status_all(size, requests, &flag, statuses);
    for (int k = 0; k < size; k++)
        note(i, k, &statuses[k]);
    MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    unsigned long told = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Recv_init(&got[size - 2], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &persistent);
    reprise_protect(0, &mine, sizeof mine);
    reprise_protect(1, &theirs, sizeof theirs);
    reprise_protect(2, &all, sizeof all);
    reprise_protect(3, &sum, sizeof sum);
    REPRISE_LOOP(i, 0, ITERATIONS)
    {
        begin((int)i);
        (i % 3 == 0 ? by_any : i % 3 == 1 ? by_some : by_all)((int)i);
        for (int k = 0; k < size - 1; k++)
            all += (unsigned long)got[k];
        MPI_Sendrecv(&mine, 1, MPI_UNSIGNED_LONG, (rank + 1) % size, 99, &told, 1,
                     MPI_UNSIGNED_LONG, (rank + size - 1) % size, 99, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        sum = sum * 17 + mine;
        theirs = theirs * 17 + told;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Sendrecv(&theirs, 1, MPI_UNSIGNED_LONG, (rank + size - 1) % size, 98, &told, 1,
                 MPI_UNSIGNED_LONG, (rank + 1) % size, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(told == sum, "the answers were others than the next rank was told");
    MPI_Request_free(&persistent);
    if (rank == 0)
        printf("RESULT all=%lu\n", all);
    MPI_Finalize();
    return 0;
}
