/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong of two ranks: "pingpong SECONDS [BYTES...]", for each way, or else for messages of
 * these sizes. Prints its name and the time of half a round trip in microseconds. It is taken from
 * short batches, of which the fastest tenth counts: on a machine that others use too, most are
 * disturbed, and a mean would measure the others.
 *
 * Rank 0 decides when to stop and says so in the first byte of a message.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG = 7, LARGE = 1 << 20, MOST_BATCHES = 1 << 20 };

static const struct way {
    const char *name;
    int bytes;
    int rounds; /* in a batch */
    int source; /* MPI_ANY_SOURCE, or else the partner */
} ways[] = {
    {"pp8", 8, 50, 0},
    {"pp1m", LARGE, 1, 0},
    {"ppany8", 8, 50, MPI_ANY_SOURCE},
};

static char *message;

static void answer(int bytes, int source)
{
    do {
        MPI_Recv(message, bytes, MPI_BYTE, source, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(message, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    } while (!message[0]);
}

static void batch(int rounds, int bytes, int source)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Send(message, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(message, bytes, MPI_BYTE, source, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double ask(const struct way *way, int source, double seconds)
{
    double *times = calloc(MOST_BATCHES, sizeof *times), start = MPI_Wtime(), before = start, now;
    size_t count = 0;

    do {
        batch(way->rounds, way->bytes, source);
        now = MPI_Wtime();
        times[count++] = (now - before) / (2.0 * way->rounds);
        before = now;
    } while (now - start < seconds && count < MOST_BATCHES);
    message[0] = 1;
    batch(1, way->bytes, source);
    qsort(times, count, sizeof *times, compare);
    double fast = times[count / 10];
    free(times);
    return fast;
}

static void run(int rank, const struct way *way, double seconds)
{
    int source = way->source == MPI_ANY_SOURCE ? MPI_ANY_SOURCE : 1 - rank;

    message[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        answer(way->bytes, source);
    else
        printf("%s %.4f\n", way->name, ask(way, source, seconds) * 1e6);
}

static void run_size(int rank, int bytes, double seconds)
{
    enum { SHORT = 1 << 14 };
    char name[32];

    snprintf(name, sizeof name, "pp%d", bytes);
    run(rank, &(struct way){name, bytes < LARGE ? bytes : LARGE, bytes < SHORT ? 50 : 5, 0},
        seconds);
}

int main(int argc, char **argv)
{
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2 || argc < 2) {
        fprintf(stderr, "usage: mpirun -n 2 pingpong SECONDS [BYTES...]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    message = calloc(LARGE, 1);
    for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; i++)
        run(rank, &ways[i], atof(argv[1]));
    for (int i = 2; i < argc; i++)
        run_size(rank, atoi(argv[i]), atof(argv[1]));
    free(message);
    MPI_Finalize();
    return 0;
}
