/* SPDX-License-Identifier: MIT */
/* Each iteration uses most of MPI's communication: all collectives, blocking and not, on the world,
 * a split and a cartesian communicator; sends of all modes; wildcards, probes, persistent requests
 * and all calls of completion. What comes is checked where it is known, and goes into the
 * result. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reprise.h"

enum { MOST = 16, LONG = 5000, ITERATIONS = 12 };

static int rank, size;
static double sum;
static MPI_Comm half, ring;
static MPI_Request persistent[2];
static int persistent_in, persistent_out;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "CHECK FAILED rank %d line %d: %s\n", rank, __LINE__, #condition);     \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                          \
        }                                                                                          \
    } while (0)

static void collectives(long i)
{
    int in[MOST], out[MOST], counts[MOST], displs[MOST],
        one = rank + (int)i, all = size * (size - 1) / 2 + size * (int)i, got = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    int root = (int)(i % size), value = rank == root ? 42 + (int)i : 0;
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(value == 42 + i);
    MPI_Reduce(&one, &got, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    CHECK(rank != root || got == all);
    MPI_Allreduce(&one, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(got == all);
    MPI_Scan(&one, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(got == rank * (rank + 1) / 2 + (rank + 1) * i);
    got = 0;
    MPI_Exscan(&one, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(rank == 0 || got == rank * (rank - 1) / 2 + rank * i);
    MPI_Gather(&one, 1, MPI_INT, out, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(rank != root || out[size - 1] == size - 1 + i);
    MPI_Scatter(out, 1, MPI_INT, &got, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(got == one);
    MPI_Allgather(&one, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0; k < size; k++) {
        CHECK(out[k] == k + i);
        in[k] = rank * 100 + k;
        counts[k] = 1;
        displs[k] = k;
    }
    MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0; k < size; k++)
        CHECK(out[k] == k * 100 + rank);
    memset(out, 0, sizeof out);
    MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, MPI_COMM_WORLD);
    CHECK(out[size - 1] == (size - 1) * 100 + rank);
    MPI_Allgatherv(&one, 1, MPI_INT, out, counts, displs, MPI_INT, MPI_COMM_WORLD);
    CHECK(out[0] == i);
    MPI_Reduce_scatter_block(in, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(got == 100 * size * (size - 1) / 2 + size * rank);
    MPI_Reduce_scatter(in, &got, counts, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(got == (size - 1) * 100 + rank);
    int members;
    MPI_Comm_size(half, &members);
    MPI_Allreduce(&(int){1}, &got, 1, MPI_INT, MPI_SUM, half);
    CHECK(got == members);
    int neighbours[2];
    MPI_Neighbor_allgather(&one, 1, MPI_INT, neighbours, 1, MPI_INT, ring);
    CHECK(neighbours[0] == (rank + size - 1) % size + i && neighbours[1] == (rank + 1) % size + i);
    double *large = malloc(LONG * sizeof *large);
    for (int k = 0; k < LONG; k++)
        large[k] = rank + 1.0 / (k + 1 + i);
    MPI_Allreduce(MPI_IN_PLACE, large, LONG, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum += large[LONG - 1];
    MPI_Bcast(large, LONG, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    sum += large[17];
    free(large);
}

static void background(long i)
{
    MPI_Request requests[4];
    int one = rank, sums[2] = {0, 0}, value = rank == 0 ? 7 : 0;
    MPI_Iallreduce(&one, &sums[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
    MPI_Iscan(&one, &sums[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[3]);
    for (int left = 4; left > 0; left--) {
        int index;
        MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
        CHECK(index != MPI_UNDEFINED);
    }
    CHECK(sums[0] == size * (size - 1) / 2 && value == 7 && sums[1] == rank * (rank + 1) / 2);
    sum += sums[1] + (double)i;
}

/* Everybody sends everybody; who comes first is left open, and goes into the result of its rank
 * alone, which the next messages carry on. */
static void wildcards(long i)
{
    MPI_Request sends[MOST];
    MPI_Status status;
    double mine = sum, order = 0;
    for (int k = 0; k < size; k++)
        if (k != rank)
            MPI_Isend(&mine, 1, MPI_DOUBLE, k, 10 + (int)i % 3, MPI_COMM_WORLD, &sends[k]);
        else
            sends[k] = MPI_REQUEST_NULL;
    for (int k = 1; k < size; k++) {
        double got;
        int flag = 0;
        if (k % 3 == 0) {
            while (!flag)
                MPI_Iprobe(MPI_ANY_SOURCE, 10 + (int)i % 3, MPI_COMM_WORLD, &flag, &status);
            MPI_Recv(&got, 1, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                     &status);
        } else if (k % 3 == 1) {
            MPI_Recv(&got, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 10 + (int)i % 3, MPI_COMM_WORLD, &status);
        } else {
            MPI_Message message;
            MPI_Mprobe(MPI_ANY_SOURCE, 10 + (int)i % 3, MPI_COMM_WORLD, &message, &status);
            MPI_Mrecv(&got, 1, MPI_DOUBLE, &message, &status);
        }
        order = order * 1.25 + status.MPI_SOURCE;
        sum += got * 1e-3;
    }
    MPI_Waitall(size, sends, MPI_STATUSES_IGNORE);
    /* The order is told to the right, and comes back from the left, twice: a rank that is brought
     * back must have had the same. */
    double told[2] = {order, order}, heard[2];
    MPI_Sendrecv(&told[0], 1, MPI_DOUBLE, (rank + 1) % size, 20, &heard[0], 1, MPI_DOUBLE,
                 (rank + size - 1) % size, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(&told[1], 1, MPI_DOUBLE, (rank + 1) % size, 21, &heard[1], 1, MPI_DOUBLE,
                 (rank + size - 1) % size, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(heard[0] == heard[1]);
}

static void modes(long i)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, got[4] = {0, 0, 0, 0},
        value = rank * 10 + (int)i, done = 0, count, indices[4];
    MPI_Request requests[4];
    MPI_Datatype gaps;
    int with_gaps[6] = {value, -1, value + 1, -1, value + 2, -1}, packed[3] = {0, 0, 0};

    persistent_out = value;
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    CHECK(persistent_in == left * 10 + i);
    MPI_Irecv(&got[0], 1, MPI_INT, left, 30, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, left, 31, MPI_COMM_WORLD, &requests[1]);
    MPI_Issend(&value, 1, MPI_INT, right, 31, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&value, 1, MPI_INT, right, 30, MPI_COMM_WORLD, &requests[3]);
    while (done < 4) {
        MPI_Testsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
        if (count == MPI_UNDEFINED)
            break;
        done += count;
    }
    CHECK(got[0] == left * 10 + i && got[1] == got[0]);
    MPI_Type_vector(3, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Irecv(packed, 3, MPI_INT, left, 32, ring, &requests[0]);
    MPI_Send(with_gaps, 1, gaps, right, 32, ring);
    MPI_Type_free(&gaps);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(packed[2] == left * 10 + i + 2);
    double *large = malloc(2 * LONG * sizeof *large);
    for (int k = 0; k < LONG; k++)
        large[k] = value + k;
    MPI_Sendrecv(large, LONG, MPI_DOUBLE, right, 33, large + LONG, LONG, MPI_DOUBLE, left, 33,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(large[LONG + 7] == left * 10 + i + 7);
    free(large);
}

int main(int argc, char **argv)
{
    int wraps = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &wraps, 0, &ring);
    MPI_Recv_init(&persistent_in, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD,
                  &persistent[0]);
    MPI_Send_init(&persistent_out, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD,
                  &persistent[1]);
    reprise_protect(0, &sum, sizeof sum);
    REPRISE_LOOP(i, 0, ITERATIONS)
    {
        collectives(i);
        background(i);
        wildcards(i);
        modes(i);
    }
    double all;
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT %.9e\n", all);
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    MPI_Comm_free(&half);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
