/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong of two ranks: "pingpong BATCHES". Prints for each way its name and the time of half a round trip in microseconds: the median of many short
 * batches, so that a batch during which another process had the core does not count.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG = 7, LARGE = 1 << 20 };

static const struct way {
    const char *name;
    int bytes;
    int rounds; /* in a batch */
    int source; /* MPI_ANY_SOURCE, or else the partner */
} ways[] = {
    {"pp8", 8, 1000, 0},
    {"pp1m", LARGE, 4, 0},
    {"ppany8", 8, 1000, MPI_ANY_SOURCE},
};

static char *message;

static void rounds(int rank, int count, int bytes, int source)
{
    int partner = 1 - rank;

    for (int i = 0; i < count; i++) {
        if (rank == 0)
            MPI_Send(message, bytes, MPI_BYTE, partner, TAG, MPI_COMM_WORLD);
        MPI_Recv(message, bytes, MPI_BYTE, source, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(message, bytes, MPI_BYTE, partner, TAG, MPI_COMM_WORLD);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_batch(int rank, const struct way *way, int batches)
{
    int source = way->source == MPI_ANY_SOURCE ? MPI_ANY_SOURCE : 1 - rank;
    double *times = calloc((size_t)batches, sizeof *times);

    rounds(rank, way->rounds, way->bytes, source);
    for (int i = 0; i < batches; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        rounds(rank, way->rounds, way->bytes, source);
        times[i] = (MPI_Wtime() - start) / (2.0 * way->rounds);
    }
    qsort(times, (size_t)batches, sizeof *times, compare);
    double median = times[batches / 2];
    free(times);
    return median;
}

int main(int argc, char **argv)
{
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2 || argc != 2) {
        fprintf(stderr, "usage: mpirun -n 2 pingpong BATCHES\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    message = calloc(LARGE, 1);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        double time = median_batch(rank, &ways[i], atoi(argv[1]));
        if (rank == 0)
            printf("%s %.4f\n", ways[i].name, time * 1e6);
    }
    free(message);
    MPI_Finalize();
    return 0;
}
