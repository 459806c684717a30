/* SPDX-License-Identifier: MIT */
/*
 * Two threads that take a mutex by turns; with OTHERWISE, one takes it in another place than
 * recorded.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int rounds, mine;

static void *work(void *unused)
{
    for (int done = 0, turn = 0; !done; turn++) {
        /* As if it had read what another wrote too early, or too late. */
        if (mine == 1 && turn >= 5 && getenv("OTHERWISE"))
            pthread_mutex_lock(&mutex);
        else
            pthread_mutex_lock(&mutex); /* recorded */
        done = rounds >= 40;
        rounds += rounds % 2 == 1;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int level, done = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    pthread_create(&thread, NULL, work, NULL);
    while (!done) {
        pthread_mutex_lock(&mutex);
        done = rounds >= 40;
        rounds += rounds % 2 == 0;
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
