/* SPDX-License-Identifier: MIT */
/*
 * Two threads a rank that receive; in the way that WAY names, one waits or sleeps behind the
 * record.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static int is(const char *way)
{
    return getenv("WAY") && strcmp(getenv("WAY"), way) == 0;
}

static void *work(void *number)
{
    int tag = *(int *)number, value = 0;
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    if (is("barrier") && tag == 0 && rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    if (is("barrier") && tag == 0 && rank > 0)
        MPI_Recv(&value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is("sleeps") && tag == 1 && rank == 0)
        sleep(6);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, number[] = {0, 1};
    pthread_t thread[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, work, &number[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return provided != MPI_THREAD_MULTIPLE;
}
