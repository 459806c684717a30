/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: same
// about: in a program with threads, MPI_Waitall of a send while a named receive is under way whose
//     handle an earlier MPI_Waitall completed; then that receive is cancelled
#include "check.h"

#include <pthread.h>

enum { ROUNDS = 5, TAG = 1, TAG_BACK = 2, TAG_NEVER = 3 };

static pthread_barrier_t is_over;

static void *wait_for_the_end(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&is_over);
    return NULL;
}

static void receive_and_cancel(void)
{
    long value = -1, never = -1;
    int cancelled = 0;
    MPI_Request receive, send, other;
    MPI_Status status;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &receive);
    MPI_Waitall(1, &receive, &status);
    check_note(value);
    MPI_Irecv(&never, 1, MPI_LONG, 1, TAG_NEVER, MPI_COMM_WORLD, &other);
    MPI_Isend(&value, 1, MPI_LONG, 1, TAG_BACK, MPI_COMM_WORLD, &send);
    MPI_Waitall(1, &send, MPI_STATUSES_IGNORE);
    MPI_Cancel(&other);
    MPI_Wait(&other, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled && never == -1, "a receive of what nobody sends took %ld", never);
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE)
        return check_skip();
    pthread_barrier_init(&is_over, NULL, 2);
    pthread_create(&thread, NULL, wait_for_the_end, NULL);
    for (long step = 0; step < ROUNDS; step++) {
        if (check.rank == 0) {
            receive_and_cancel();
            continue;
        }
        MPI_Send(&step, 1, MPI_LONG, 0, TAG, MPI_COMM_WORLD);
        MPI_Recv(&step, 1, MPI_LONG, 0, TAG_BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    pthread_barrier_wait(&is_over);
    pthread_join(thread, NULL);
    return check_end();
}
