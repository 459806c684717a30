/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: same
// clocks: 1
// refuses: clocks cannot be recorded of a program whose threads
// about: with clocks, a program whose threads may all call MPI
#include "../check.h"

#include <pthread.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_SERIALIZED)
        return check_skip();
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    return check_end();
}
