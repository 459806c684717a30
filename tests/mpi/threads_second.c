/* SPDX-License-Identifier: MIT */
// ranks: 3
// det: refused: by another thread
// native: differs
// about: wildcard receives from a second thread under MPI_THREAD_MULTIPLE, while the main thread
//     sends
#include "check.h"

#include <pthread.h>

#ifndef LEVEL
#define LEVEL MPI_THREAD_MULTIPLE
#endif

enum { ROUNDS = 5, TAG = 1 };

static void *receive_all(void *argument)
{
    (void)argument;
    for (int i = 0; i < ROUNDS * (check.size - 1); i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (check_start_thread(&argc, &argv, LEVEL) < LEVEL)
        return check_skip();
    if (check.rank == 0)
        pthread_create(&thread, NULL, receive_all, NULL);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, TAG, step);
    if (check.rank == 0)
        pthread_join(thread, NULL);
    return check_end();
}
