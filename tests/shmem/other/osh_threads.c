/* SPDX-License-Identifier: MIT */
// A thread that did not start OpenSHMEM calls it.
#include "oshcheck.h"

#include <pthread.h>

static long counter;

static void *work(void *unused)
{
    shmem_long_atomic_inc(&counter, 0);
    return unused;
}

int main(void)
{
    pthread_t thread;

    osh_begin();
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    shmem_barrier_all();
    return osh_end();
}
