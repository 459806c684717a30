/* SPDX-License-Identifier: MIT */
/* Threads that race for a mutex before rank 0 and 1 exchange a message. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int first;
static long asked;

static void *work(void *number)
{
    struct timespec now,
        pause = {0, *(int *)number == (getenv("OTHERWISE") ? 1 : 2) ? 300000000 : 0};

    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_REALTIME, &now);
    pthread_mutex_lock(&mutex);
    if (!first) {
        first = *(int *)number;
        asked = now.tv_nsec;
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, value = 0, numbers[2] = {1, 2};
    pthread_t threads[2];
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    MPI_Send(&value, 1, MPI_INT, 1 - rank, first, MPI_COMM_WORLD);
    if (first == 1)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    else
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status),
            MPI_Recv(&value, 1, MPI_INT, 1 - rank, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    printf("RESULT %d: first %d at %ld, tag %d\n", rank, first, asked, status.MPI_TAG);
    MPI_Finalize();
    return 0;
}
