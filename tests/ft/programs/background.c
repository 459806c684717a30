/* SPDX-License-Identifier: MIT */
/* Each iteration has many collectives under way at once, on two communicators which ranks use in
 * different orders, and messages between the same ranks meanwhile. Which of them gets on first is
 * left open, as is the order in which they are completed: by MPI_Waitall, MPI_Waitany,
 * MPI_Testsome, or MPI_Testall. All that comes goes into the result, bit by bit. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reprise.h"

enum {
    MOST = 8,
    LONG = 3000,
    KINDS = 12,
    COMMS = 2,
    REQUESTS = COMMS * KINDS + 3,
    ITERATIONS = 16
};

struct values {
    double in[MOST * 4], out[KINDS][MOST * 4];
    double long_in[LONG], long_out[LONG];
};

static int rank, size;
static uint64_t hash = 1469598103934665603u;
static int counts[MOST], displs[MOST];
static MPI_Comm turned; /* ranks in another order */

static void mix(const void *from, size_t bytes)
{
    const uint8_t *byte = from;

    while (bytes--)
        hash = (hash ^ *byte++) * 1099511628211u;
}

static void fill(struct values *values, long i, int salt)
{
    memset(values, 0, sizeof *values);
    for (int k = 0; k < MOST * 4; k++)
        values->in[k] = rank + 0.1 * k + 1.0 / (double)(i + 3 + salt);
    for (int k = 0; k < LONG; k++)
        values->long_in[k] = 1.0 / (rank + k + 1.0) + (double)i * salt;
}

static void start(struct values *v, long i, MPI_Comm comm, MPI_Request requests[KINDS])
{
    int root = (int)(i % size);

    MPI_Iallreduce(v->in, v->out[0], 2, MPI_DOUBLE, MPI_SUM, comm, &requests[0]);
    MPI_Ialltoall(v->in, 1, MPI_DOUBLE, v->out[1], 1, MPI_DOUBLE, comm, &requests[1]);
    MPI_Iscan(v->in, v->out[2], 1, MPI_DOUBLE, MPI_SUM, comm, &requests[2]);
    MPI_Ialltoallv(v->in, counts, displs, MPI_DOUBLE, v->out[3], counts, displs, MPI_DOUBLE, comm,
                   &requests[3]);
    MPI_Iallgather(v->in, 2, MPI_DOUBLE, v->out[4], 2, MPI_DOUBLE, comm, &requests[4]);
    MPI_Ireduce_scatter(v->in, v->out[5], counts, MPI_DOUBLE, MPI_SUM, comm, &requests[5]);
    MPI_Igather(v->in, 1, MPI_DOUBLE, v->out[6], 1, MPI_DOUBLE, root, comm, &requests[6]);
    MPI_Iscatter(v->in, 1, MPI_DOUBLE, v->out[7], 1, MPI_DOUBLE, (root + 1) % size, comm,
                 &requests[7]);
    memcpy(v->out[8], v->in, sizeof v->in);
    MPI_Ibcast(v->out[8], 3, MPI_DOUBLE, root, comm, &requests[8]);
    MPI_Iexscan(v->in, v->out[9], 1, MPI_DOUBLE, MPI_SUM, comm, &requests[9]);
    MPI_Ibarrier(comm, &requests[10]);
    MPI_Iallreduce(v->long_in, v->long_out, LONG, MPI_DOUBLE, MPI_SUM, comm, &requests[11]);
}

/* The order of completion does not change the result. */
static void complete(long i, MPI_Request *requests)
{
    int flag = 0, index, done, indices[REQUESTS];

    switch (i % 4) {
    case 0:
        MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
        break;
    case 1:
        for (int k = 0; k < REQUESTS; k++)
            MPI_Waitany(REQUESTS, requests, &index, MPI_STATUS_IGNORE);
        break;
    case 2:
        do
            MPI_Testsome(REQUESTS, requests, &done, indices, MPI_STATUSES_IGNORE);
        while (done != MPI_UNDEFINED);
        break;
    default:
        while (!flag)
            MPI_Testall(REQUESTS, requests, &flag, MPI_STATUSES_IGNORE);
    }
}

static void iterate(long i, struct values values[COMMS])
{
    MPI_Request requests[REQUESTS];
    MPI_Comm comms[COMMS] = {MPI_COMM_WORLD, turned}, copy;
    int right = (rank + 1) % size, left = (rank + size - 1) % size, first = rank % COMMS;
    double told[2] = {0, 0}, heard[2] = {0, 0}, sum = 0;

    for (int k = 0; k < COMMS; k++)
        fill(&values[k], i, k);
    start(&values[first], i, comms[first], &requests[first * KINDS]);
    told[0] = values[0].in[0];
    MPI_Irecv(&heard[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[COMMS * KINDS]);
    MPI_Isend(&told[0], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[COMMS * KINDS + 1]);
    start(&values[1 - first], i, comms[1 - first], &requests[(1 - first) * KINDS]);
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &requests[COMMS * KINDS + 2]);
    told[1] = told[0] * 3;
    MPI_Sendrecv(&told[1], 1, MPI_DOUBLE, left, 2, &heard[1], 1, MPI_DOUBLE, right, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    complete(i, requests);
    MPI_Allreduce(&heard[1], &sum, 1, MPI_DOUBLE, MPI_SUM, copy);
    MPI_Comm_free(&copy);
    for (int k = 0; k < COMMS; k++) {
        mix(values[k].out, sizeof values[k].out);
        mix(values[k].long_out, sizeof values[k].long_out);
    }
    mix(heard, sizeof heard);
    mix(&sum, sizeof sum);
}

int main(int argc, char **argv)
{
    static struct values values[COMMS];
    uint64_t all[MOST];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < size; k++) {
        counts[k] = 1;
        displs[k] = size - 1 - k;
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    reprise_protect(0, &hash, sizeof hash);
    iterate(3, values); /* in the setup, too */
    REPRISE_LOOP(i, 0, ITERATIONS)
    iterate(i, values);
    MPI_Gather(&hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("RESULT");
        for (int k = 0; k < size; k++)
            printf(" %016llx", (unsigned long long)all[k]);
        printf("\n");
    }
    MPI_Comm_free(&turned);
    MPI_Finalize();
    return 0;
}
