/* SPDX-License-Identifier: MIT */
/*
 * Ranks that leave the record between two events, in the way that WAY names, and wait for each
 * other. With END, rank 2 ends in this way before MPI_Finalize. With MARK, a rank makes the file
 * MARK.RANK before that.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, value, many[8];
static char large[8 << 20];
static MPI_Comm made;
static int is(const char *way)
{
    return getenv("WAY") && strcmp(getenv("WAY"), way) == 0;
}

static void receive_from(int source)
{
    MPI_Recv(&value, 1, MPI_INT, source, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void gather_from_all(int tag)
{
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}

static void
alone(const char *way,
      int low) /* the upper half waits for a message of rank 0, which is in a collective call */
{
    int all = size, no = 0;
    MPI_Comm half;
    if (strcmp(way, "inter") == 0)
        MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half);
    if (!low) {
        receive_from(0);
        return;
    }
    if (is("dup"))
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (is("split"))
        MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
    if (is("barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    if (is("allreduce"))
        MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (is("inter"))
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, size / 2, 4, &made);
    if (is("cart"))
        MPI_Cart_create(MPI_COMM_WORLD, 1, &all, &no, 0, &made);
}

static void end(const char *how)
{
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    exit(0);
}

static void mark(void)
{
    char name[64];

    if (!getenv("MARK"))
        return;
    snprintf(name, sizeof name, "%s.%d", getenv("MARK"), rank);
    fclose(fopen(name, "w"));
}

int main(int argc, char **argv)
{
    int next, low;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    low = rank < size / 2;
    gather_from_all(0);
    mark();
    if (is("computes")) {
        if (low)
            sleep(7);
    } else if (is("mismatch")) {
        if (low)
            MPI_Barrier(MPI_COMM_WORLD);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &made);
    } else if (is("ssend"))
        MPI_Ssend(&rank, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
    else if (is("send"))
        MPI_Send(large, sizeof large, MPI_BYTE, next, 5, MPI_COMM_WORLD);
    else if (is("sendrecv"))
        MPI_Sendrecv(&rank, 1, MPI_INT, next, 5, &value, 1, MPI_INT, next, 6, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    else if (is("probe")) {
        if (low)
            MPI_Probe(3, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    } else if (is("issend")) {
        MPI_Issend(&rank, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (is("finalize")) {
        if (!low)
            MPI_Barrier(MPI_COMM_WORLD);
    } else if (getenv("WAY") && !is("last"))
        alone(getenv("WAY"), low);
    gather_from_all(1);
    if (is("last") && !low)
        MPI_Bcast(many, 8, MPI_INT, 0, MPI_COMM_WORLD);
    if (getenv("END")) {
        MPI_Barrier(MPI_COMM_WORLD); // the others have replayed all
        if (rank == 2)
            end(getenv("END"));
    }
    MPI_Finalize();
    return 0;
}
