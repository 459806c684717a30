/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// det: refused: by another thread
// about: a thread of rank 0 serves requests from anyone, while all main threads wait for its
//     answers: no deadlock, though no main thread sends any more
#include <pthread.h>

#include "check.h"

enum { TAG_REQUEST = 1, TAG_ANSWER = 2 };

static void *serve(void *unused)
{
    long value = 0, last = 0;
    MPI_Status status;

    for (int i = 0; i < check.size; i++) {
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_REQUEST, MPI_COMM_WORLD, &status);
        last = last * 10 + status.MPI_SOURCE;
        MPI_Send(&last, 1, MPI_LONG, status.MPI_SOURCE, TAG_ANSWER, MPI_COMM_WORLD);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t server;
    long answer = -1;

    if (check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE)
        return check_skip();
    if (check.rank == 0)
        pthread_create(&server, NULL, serve, NULL);
    check_send_paced(0, TAG_REQUEST, 1);
    MPI_Recv(&answer, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_note((uint64_t)answer);
    if (check.rank == 0)
        pthread_join(server, NULL);
    return check_end();
}
