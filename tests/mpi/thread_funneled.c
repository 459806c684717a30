/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// about: MPI_THREAD_FUNNELED requested; a second thread computes while the main thread polls
//     wildcard receives
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 6, TAG = 1 };

static atomic_int stop;
static volatile double sum;

static void *compute(void *argument)
{
    (void)argument;
    for (int i = 0; !atomic_load(&stop); i++) {
        sum += 1.0 / (i % 1000 + 1);
        if (i % 100000 == 0)
            check_sleep_ms(1);
    }
    return NULL;
}

static void receive(void)
{
    int flag = 0;
    long value = -1, failed = 0;
    MPI_Request request;
    MPI_Status status;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &flag, &status), !flag) {
        failed++;
        sched_yield();
    }
    check_note(failed);
    check_note_message(value, &status);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided = check_start_thread(&argc, &argv, MPI_THREAD_FUNNELED);

    CHECK(provided >= MPI_THREAD_FUNNELED, "provided %d", provided);
    check_note(provided);
    if (check.rank == 0)
        printf("LEVEL provided=%d\n", provided);
    pthread_create(&thread, NULL, compute, NULL);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, TAG, step);
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1); i++)
        receive();
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    return check_end();
}
