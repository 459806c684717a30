/* SPDX-License-Identifier: MIT */
/*
 * In each iteration every rank receives from anyone, with generalized requests among these
 * receives, which it completes itself, sooner or later. What the calls of completion answered goes
 * into a sum that is told to the next rank, as in anyone.c.
 *
 * With an argument, a thread completes a request while the program polls: in the second life of
 * rank 1, which finds this file, later than in the first.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "reprise.h"

enum { ITERATIONS = 24, MOST = 16, OWN = 2, WAYS = 6 };

struct own {
    int iteration, number, queries, cancels, releases;
};

static int rank, size, got[MOST];
static unsigned long mine, own_sum, theirs, all;
static struct own owns[OWN];
static MPI_Request requests[MOST];

static void check(int holds, const char *what, int i)
{
    if (holds)
        return;
    fprintf(stderr, "rank %d, iteration %d: %s\n", rank, i, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static int query(void *data, MPI_Status *status)
{
    struct own *own = data;

    own->queries++;
    MPI_Status_set_elements(status, MPI_INT, own->number + 2);
    MPI_Status_set_cancelled(status, own->cancels > 0);
    status->MPI_SOURCE = own->iteration;
    status->MPI_TAG = 100 + own->number;
    return MPI_SUCCESS;
}

static int release(void *data)
{
    ((struct own *)data)->releases++;
    return MPI_SUCCESS;
}

static int cancel(void *data, int is_complete)
{
    struct own *own = data;

    check(!is_complete, "a request is said to be complete", own->iteration);
    own->cancels++;
    return MPI_SUCCESS;
}

/* The requests of the program are the last. */
static void begin(int i, int receives)
{
    for (int k = 0; k < receives; k++)
        MPI_Irecv(&got[k], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[k]);
    for (int k = 0; k < OWN; k++) {
        owns[k] = (struct own){.iteration = i, .number = k};
        MPI_Grequest_start(query, release, cancel, &owns[k], &requests[receives + k]);
    }
    for (int to = 0; to < size; to++) {
        int value = rank * 1000 + i;
        if (to != rank)
            MPI_Send(&value, 1, MPI_INT, to, i, MPI_COMM_WORLD);
    }
}

static void take(int i, int k, int receives, const MPI_Status *status)
{
    int count, is_cancelled;

    MPI_Get_count(status, MPI_INT, &count);
    MPI_Test_cancelled(status, &is_cancelled);
    if (k < receives) {
        check(got[k] == status->MPI_SOURCE * 1000 + i && count == 1, "another message", i);
        all += (unsigned long)got[k];
    } else {
        const struct own *own = &owns[k - receives];
        check(status->MPI_TAG == 100 + own->number && count == own->number + 2 &&
                  status->MPI_SOURCE == i && is_cancelled == (own->cancels > 0),
              "another status", i);
        check(own->releases == 1 && own->queries >= 1, "a function was not called", i);
    }
    mine = mine * 31 + (unsigned long)(status->MPI_SOURCE + k + 1);
}

static void by_any(int i, int receives)
{
    MPI_Status status;
    int index, done = 0;

    while (MPI_Waitany(receives + OWN, requests, &index, &status), index != MPI_UNDEFINED) {
        take(i, index, receives, &status);
        if (++done <= OWN)
            MPI_Grequest_complete(requests[receives + done - 1]);
    }
}

static void by_some(int i, int receives, int tests)
{
    MPI_Status statuses[MOST];
    int count, indices[MOST], calls = 0;

    for (;;) {
        if (tests)
            MPI_Testsome(receives + OWN, requests, &count, indices, statuses);
        else
            MPI_Waitsome(receives + OWN, requests, &count, indices, statuses);
        if (count == MPI_UNDEFINED)
            return;
        for (int k = 0; k < count; k++)
            take(i, indices[k], receives, &statuses[k]);
        if (++calls <= OWN)
            MPI_Grequest_complete(requests[receives + calls - 1]);
        mine = mine * 7 + (unsigned long)count;
    }
}

static void by_all(int i, int receives)
{
    MPI_Status statuses[MOST];

    MPI_Cancel(&requests[receives]);
    check(owns[0].cancels == 1, "it was not cancelled", i);
    for (int k = 0; k < OWN; k++)
        MPI_Grequest_complete(requests[receives + k]);
    MPI_Waitall(receives + OWN, requests, statuses);
    for (int k = 0; k < receives + OWN; k++)
        take(i, k, receives, &statuses[k]);
}

static void by_status(int i, int receives)
{
    MPI_Status status;
    int flag, polls = 0;

    for (int k = 0; k < receives + OWN; k++, flag = 0) {
        if (k >= receives) {
            MPI_Request_get_status(requests[k], &flag, MPI_STATUS_IGNORE);
            check(!flag && owns[k - receives].queries == 0, "it is complete too soon", i);
            MPI_Grequest_complete(requests[k]);
        }
        do
            MPI_Request_get_status(requests[k], &flag, &status);
        while (polls += !flag, !flag);
        MPI_Test(&requests[k], &flag, &status);
        check(flag && requests[k] == MPI_REQUEST_NULL, "it is not complete any more", i);
        take(i, k, receives, &status);
    }
    mine = mine * 5 + (unsigned long)polls;
}

static void *complete(void *request)
{
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

/* One is freed before it is complete, the other behind that; and a third, which a thread completes.
 */
static void by_freeing(int i, int receives)
{
    MPI_Request copy = requests[receives], third;
    struct own own = {.iteration = i, .number = 0};
    MPI_Status statuses[MOST];
    pthread_t thread;

    MPI_Request_free(&requests[receives]);
    check(owns[0].releases == 0 && requests[receives] == MPI_REQUEST_NULL, "freed too soon", i);
    MPI_Waitall(receives, requests, statuses);
    for (int k = 0; k < receives; k++)
        take(i, k, receives, &statuses[k]);
    MPI_Grequest_complete(copy);
    MPI_Grequest_complete(requests[receives + 1]);
    MPI_Request_free(&requests[receives + 1]);
    MPI_Grequest_start(query, release, cancel, &own, &third);
    pthread_create(&thread, NULL, complete, &third);
    pthread_join(thread, NULL);
    MPI_Wait(&third, MPI_STATUS_IGNORE);
    check(owns[0].releases == 1 && owns[1].releases == 1 && owns[1].queries == 0 &&
              own.releases == 1 && own.queries == 1,
          "a function was not called", i);
}

static void complete_all(int i)
{
    int receives = size - 1;

    begin(i, receives);
    switch ((i + rank) % WAYS) {
    case 0:
        by_any(i, receives);
        break;
    case 1:
    case 2:
        by_some(i, receives, (i + rank) % WAYS == 1);
        break;
    case 3:
        by_all(i, receives);
        break;
    case 4:
        by_status(i, receives);
        break;
    default:
        by_freeing(i, receives);
    }
}

/* The program polls while a thread completes the request, both under a lock. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *late; /* the file */

static void *complete_later(void *request)
{
    struct timespec pause = {0, access(late, F_OK) == 0 && rank == 1 ? 400000000 : 0};

    nanosleep(&pause, NULL);
    pthread_mutex_lock(&lock);
    MPI_Grequest_complete(*(MPI_Request *)request);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void by_thread(int i)
{
    const struct timespec pause = {0, 50000000};
    MPI_Request request;
    pthread_t thread;

    owns[0] = (struct own){.iteration = i};
    MPI_Grequest_start(query, release, cancel, &owns[0], &request);
    pthread_create(&thread, NULL, complete_later, &request);
    nanosleep(&pause, NULL);
    for (int flag = 0; !flag;) {
        pthread_mutex_lock(&lock);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    if (rank == 1 && i == 6)
        fclose(fopen(late, "w"));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    unsigned long told = 0;
    int provided;

    late = argc > 1 ? argv[1] : NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    reprise_protect(0, &mine, sizeof mine);
    reprise_protect(1, &theirs, sizeof theirs);
    reprise_protect(2, &all, sizeof all);
    reprise_protect(3, &own_sum, sizeof own_sum);
    REPRISE_LOOP(i, 0, ITERATIONS)
    {
        if (late)
            by_thread((int)i);
        else
            complete_all((int)i);
        MPI_Sendrecv(&mine, 1, MPI_UNSIGNED_LONG, (rank + 1) % size, 99, &told, 1,
                     MPI_UNSIGNED_LONG, (rank + size - 1) % size, 99, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        own_sum = own_sum * 17 + mine;
        theirs = theirs * 17 + told;
    }
    MPI_Sendrecv(&theirs, 1, MPI_UNSIGNED_LONG, (rank + size - 1) % size, 98, &told, 1,
                 MPI_UNSIGNED_LONG, (rank + 1) % size, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(told == own_sum, "the calls answered otherwise than the next rank was told", ITERATIONS);
    if (rank == 0)
        printf("RESULT all=%lu\n", all);
    MPI_Finalize();
    return 0;
}
