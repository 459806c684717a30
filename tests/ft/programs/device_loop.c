/* SPDX-License-Identifier: MIT */
/*
 * In each iteration ranks exchange buffers in device memory, some of them from anyone, and reduce
 * them. What is protected is in device memory, too. The result is that of a run without failures.
 */
#include <mpi.h>

#include "device_gpu.h"
#include "reprise.h"

enum { ITERATIONS = 24, COUNT = 600, ROWS = 20, STRIDE = 30 };

static double *state, *buffer, *other, host[COUNT];
static int rank, size;

static void fill(double *to, double first)
{
    for (int i = 0; i < COUNT; i++)
        host[i] = first + i;
    gpu_write(to, host, sizeof host);
}

static double sum(const double *from)
{
    double all = 0;

    gpu_read(host, from, sizeof host);
    for (int i = 0; i < COUNT; i++)
        all += host[i] * (i % 7 + 1);
    return all;
}

/* Adds what is in `other` to the state. */
static void take(double weight)
{
    double more[COUNT];

    gpu_read(more, other, sizeof more);
    gpu_read(host, state, sizeof host);
    for (int i = 0; i < COUNT; i++)
        host[i] = host[i] * 0.5 + more[i] * weight;
    gpu_write(state, host, sizeof host);
}

static void exchange(int i)
{
    MPI_Request requests[16];
    MPI_Status status;

    for (int to = 0; to < size; to++)
        MPI_Isend(state, i % 2 ? COUNT : 9, MPI_DOUBLE, to, i, MPI_COMM_WORLD, &requests[to]);
    for (int k = 0; k < size; k++) {
        fill(other, 0);
        MPI_Recv(other, COUNT, MPI_DOUBLE, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &status);
        buffer = gpu_alloc(sizeof host);
        fill(buffer, sum(other));
        gpu_free(buffer);
    }
    MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
}

static void columns(int i)
{
    MPI_Datatype column;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    MPI_Type_vector(ROWS, 3, STRIDE, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    fill(other, i);
    MPI_Sendrecv(state, 1, column, right, 100, other, 1, column, left, 100, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    take(0.25);
    MPI_Sendrecv(state, 1, column, right, 100, other, 3 * ROWS, MPI_DOUBLE, left, 100,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    take(0.125);
    MPI_Type_free(&column);
}

static void reduce(void)
{
    MPI_Allreduce(state, other, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    take(0.01);
    MPI_Allreduce(MPI_IN_PLACE, other, COUNT, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Bcast(other, COUNT / 2, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Scan(state, other, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    take(0.02);
    MPI_Allgather(state, COUNT / size, MPI_DOUBLE, other, COUNT / size, MPI_DOUBLE, MPI_COMM_WORLD);
    take(0.5);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gpu_open();
    state = gpu_alloc(sizeof host);
    other = gpu_alloc(sizeof host);
    fill(state, rank);
    fill(other, 0);
    reprise_protect(0, state, sizeof host);
    REPRISE_LOOP(i, 0, ITERATIONS)
    {
        exchange((int)i);
        columns((int)i);
        reduce();
    }
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : state, state, COUNT, MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT %.17g\n", sum(state));
    MPI_Finalize();
    return 0;
}
