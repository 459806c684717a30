/* SPDX-License-Identifier: MIT */
/*
 * A wildcard receive that stays pending for many events: "pending EVENTS", one rank. It is posted
 * first, then so many messages of the rank to itself are received from any source, then it is
 * matched. Prints the most memory that the process ever had (VmHWM, not ru_maxrss, which remembers
 * the process that forked this one), MPI_Finalize included.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_LATE = 1, TAG_EVENT = 2 };

static long peak_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");

    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib;
}

/* The late one has its receive already. MPICH does not buffer a blocking send to itself. */
static void message_to_self(int rank, int tag)
{
    double sent = 0, received;
    MPI_Request send;

    MPI_Isend(&sent, 1, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &send);
    if (tag == TAG_EVENT)
        MPI_Recv(&received, 1, MPI_DOUBLE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    long events = argc == 2 ? atol(argv[1]) : 0;
    MPI_Request late;
    double value;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG_LATE, MPI_COMM_WORLD, &late);
    for (long i = 0; i < events; i++)
        message_to_self(rank, TAG_EVENT);
    message_to_self(rank, TAG_LATE);
    MPI_Wait(&late, MPI_STATUS_IGNORE);
    MPI_Finalize();
    printf("peak %ld\n", peak_kib());
    return 0;
}
