/* SPDX-License-Identifier: MIT */
/*
 * Receives from anyone in thin wrappers, inlined, nested and thick ones, each called from several
 * places.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
#define RECEIVE(value)                                                                             \
    MPI_Recv(value, 1, MPI_INT, MPI_ANY_SOURCE, receive_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
static volatile int total;
static int receive_tag = 5;
static APART int take(int *value)
{
    int rc = RECEIVE(value); /* take */
    total += *value;
    return rc;
}

static APART int take_more(int *value)
{
    int rc = take(value); /* take_more */
    total += 3;
    return rc;
}

static inline __attribute__((always_inline)) int quick(int *value)
{
    return RECEIVE(value); /* quick */
}

static APART int large(int *value)
{
    int rc = RECEIVE(value); /* large */
#define TEN(x) x x x x x x x x x x
    TEN(TEN(total += *value;))
    return rc;
}

static APART int once(int *value)
{
    int rc = RECEIVE(value); /* once */
    total -= *value;
    return rc;
}

#define CALLER(name, by, what)                                                                     \
    static APART void name(void)                                                                   \
    {                                                                                              \
        int v;                                                                                     \
        what(&v);                                                                                  \
        total += by * v;                                                                           \
    }
CALLER(first, 2, take)       /* first */
CALLER(second, 3, take)      /* second */
CALLER(third, 4, take_more)  /* third */
CALLER(fourth, 5, take_more) /* fourth */
CALLER(fifth, 6, quick)      /* fifth */
CALLER(sixth, 7, quick)      /* sixth */
CALLER(seventh, 8, large)    /* seventh */
CALLER(eighth, 9, large)     /* eighth */
CALLER(ninth, 10, once)      /* ninth */
int main(int argc, char **argv)
{
    static void (*const callers[])(void) = {first, second,  third,  fourth, fifth,
                                            sixth, seventh, eighth, ninth};
    int rank, size, late = getenv("LATE_TAG") != NULL, swap = getenv("SWAP") != NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; rank > 0 && i < 9; i++)
        MPI_Send(&i, 1, MPI_INT, 0, late ? 6 : 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && getenv("POST")) {
        int never;
        MPI_Request request;
        MPI_Irecv(&never, 1, MPI_INT, 1, 77, MPI_COMM_WORLD, &request);
    }
    for (int i = 0; rank == 0 && i < 9 * (size - 1); i++)
        callers[swap && i < 2 ? 1 - i : i % 9]();
    MPI_Finalize();
    return 0;
}
