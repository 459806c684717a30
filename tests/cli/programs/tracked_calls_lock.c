/* SPDX-License-Identifier: MIT */
/* A mutex in a shared window. */
#include <mpi.h>
#include <pthread.h>

int main(int argc, char **argv)
{
    pthread_mutex_t *lock;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Win_allocate_shared(sizeof *lock, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &lock, &win);
    pthread_mutex_init(lock, NULL);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
