/* SPDX-License-Identifier: MIT */
/*
 * Messages of all lengths, long ones above all, in a ring: received where a receive waits, where
 * none does yet, after a matched probe, into types with gaps, by collectives. Every value is
 * checked. With "tight" the ranks leave themselves no more memory once they have begun, so that
 * logs of others cannot be mapped any further. In the end rank 0 tells what it has mapped of logs.
 * With "hold" an iteration ends with a message that was probed and not received.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "reprise.h"

enum { ITERATIONS = 80, LONGEST = 250000, KINDS = 5 };

static int rank, size;
static unsigned long sum;
static unsigned *out[KINDS], *in;

static unsigned value(int from, long iteration, int kind, int at)
{
    return (unsigned)(from * 7919 + iteration * 104729 + kind * 31 + at);
}

static int length(long iteration, int kind)
{
    static const int lengths[] = {
        511,    512,     3000, 4097,
        100000, LONGEST, 1}; /* of unsigned: 2048 bytes, 16 KiB and 1 MiB are near or between */

    return lengths[(iteration + 2 * kind) % (int)(sizeof lengths / sizeof *lengths)];
}

static void check(const unsigned *values, int stride, int from, long iteration, int kind)
{
    for (int i = 0; i < length(iteration, kind); i++) {
        if (values[(long)i * stride] != value(from, iteration, kind, i)) {
            fprintf(stderr,
                    "rank %d: in iteration %ld, kind %d, value %d of rank %d is %u instead of %u\n",
                    rank, iteration, kind, i, from, values[(long)i * stride],
                    value(from, iteration, kind, i));
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        sum += values[(long)i * stride];
    }
}

static void leave_no_memory(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (!file || fscanf(file, "%lu", &pages) != 1)
        MPI_Abort(MPI_COMM_WORLD, 4);
    fclose(file);
    rlim_t now = pages * 4096UL + (48UL << 20);
    setrlimit(RLIMIT_AS, &(struct rlimit){now, now});
}

/* Logs of others are mapped in pieces of 64 MiB: the first ones, later ones; and pieces of logs
 * behind the first 64 MiB that are smaller, which are our own. */
static void tell_maps(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long from, to, offset;
    int first = 0, later = 0, own = 0;

    while (file && fgets(line, sizeof line, file))
        if (strstr(line, "reprise-log") &&
            sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3) {
            bool is_view = to - from == 64UL << 20;
            first += is_view && offset == 0;
            later += is_view && offset > 0;
            own += !is_view && offset >= 64UL << 20;
        }
    if (file)
        fclose(file);
    printf("MAPS first=%d later=%d own=%d\n", first, later, own);
}

int main(int argc, char **argv)
{
    bool tight = argc > 1 && strcmp(argv[1], "tight") == 0,
         holds = argc > 1 && strcmp(argv[1], "hold") == 0;
    MPI_Request requests[KINDS], early;
    MPI_Datatype gaps;
    MPI_Message found;
    MPI_Status status;
    int count;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int kind = 0; kind < KINDS; kind++)
        out[kind] = malloc(LONGEST * sizeof(unsigned));
    in = malloc(3L * LONGEST * sizeof(unsigned));
    MPI_Type_create_resized(MPI_UNSIGNED, 0, 3 * sizeof(unsigned), &gaps);
    MPI_Type_commit(&gaps);
    for (int at = 0; at < LONGEST; at++)
        out[0][at] = value(rank, 5, 0, at);
    MPI_Sendrecv(out[0], length(5, 0), MPI_UNSIGNED, next, 0, in, length(5, 0), MPI_UNSIGNED,
                 before, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE); /* who takes over a rank gets this again */
    check(in, 1, before, 5, 0);
    MPI_Bcast(out[0], LONGEST, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    reprise_protect(0, &sum, sizeof sum);
    REPRISE_LOOP(i, 0, ITERATIONS)
    {
        if (tight && i == 48)
            leave_no_memory();
        for (int kind = 0; kind < KINDS; kind++)
            for (int at = 0; at < length(i, kind); at++)
                out[kind][at] = value(rank, i, kind, at);
        MPI_Irecv(in, length(i, 0), MPI_UNSIGNED, before, 0, MPI_COMM_WORLD, &early);
        for (int kind = 0; kind < KINDS - 1; kind++)
            (kind == 3 ? MPI_Issend : MPI_Isend)(out[kind], length(i, kind), MPI_UNSIGNED, next,
                                                 kind, MPI_COMM_WORLD, &requests[kind]);
        MPI_Wait(&early, MPI_STATUS_IGNORE);
        check(in, 1, before, i, 0);
        MPI_Mprobe(before, 2, MPI_COMM_WORLD, &found, &status);
        MPI_Recv(in, length(i, 1), gaps, before, 1, MPI_COMM_WORLD, &status);
        check(in, 3, before, i, 1);
        MPI_Get_count(&status, MPI_UNSIGNED, &count);
        if (count != length(i, 1))
            MPI_Abort(MPI_COMM_WORLD, 5);
        MPI_Recv(in, length(i, 3), MPI_UNSIGNED, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(in, 1, before, i, 3);
        if (holds && i == 3) {
            MPI_Waitall(KINDS - 1, requests, MPI_STATUSES_IGNORE);
            continue;
        }
        MPI_Mrecv(in, length(i, 2), MPI_UNSIGNED, &found, MPI_STATUS_IGNORE);
        check(in, 1, before, i, 2);
        MPI_Waitall(KINDS - 1, requests, MPI_STATUSES_IGNORE);
        int root = (int)i % size;
        if (rank == root)
            memcpy(in, out[4], (size_t)length(i, 4) * sizeof(unsigned));
        MPI_Bcast(in, length(i, 4), MPI_UNSIGNED, root, MPI_COMM_WORLD);
        check(in, 1, root, i, 4);
    }
    unsigned long all;
    MPI_Allreduce(&sum, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        tell_maps();
        printf("RESULT sum=%lu\n", all);
    }
    MPI_Finalize();
    return 0;
}
