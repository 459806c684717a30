/* SPDX-License-Identifier: MIT */
// usage: solo_threads_app: two threads of each rank receive from anyone. Then, if these files are
// there: `diverge`: the first makes another call than it did; `arguments`: it sends with another
// tag; `killed`: the second waits for a message that never comes, and the process is killed;
// `freed`: a wildcard receive is freed while it is under way.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;

static int is_there(const char *name)
{
    return access(name, F_OK) == 0;
}

static long take(int tag)
{
    long value = -1;

    MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

static void *run(void *data)
{
    int number = (int)(long)data;
    long value = 0;

    for (int i = 0; i < 20; i++)
        value += take(number);
    if (number == 1) {
        if (is_there("diverge"))
            MPI_Barrier(MPI_COMM_SELF);
        MPI_Request request;
        MPI_Isend(&value, 1, MPI_LONG, rank, is_there("arguments") ? 8 : 7, MPI_COMM_WORLD,
                  &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        take(7);
    }
    if (number == 2 && rank == 0 && is_there("killed"))
        take(99);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, size;
    long value = 1;
    pthread_t threads[2];
    MPI_Request request;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, (void *)(i + 1));
    for (int i = 0; i < 20; i++)
        for (int tag = 1; tag <= 2; tag++)
            MPI_Send(&value, 1, MPI_LONG, (rank + 1) % size, tag, MPI_COMM_WORLD);
    pthread_join(threads[0], NULL);
    if (rank == 0 && is_there("killed")) {
        usleep(500000);
        raise(SIGKILL);
    }
    pthread_join(threads[1], NULL);
    if (is_there("freed")) {
        MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    MPI_Finalize();
    if (rank == 0)
        puts("done");
    return 0;
}
