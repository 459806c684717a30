/* SPDX-License-Identifier: MIT */
// ranks: 3
// det: refused: by another thread
// native: differs
// flags: -fopenmp
// about: OpenMP threads receive by wildcard inside critical sections, and outside of them, each
//     thread with its own tag
#include "check.h"

#include <omp.h>

enum { THREADS = 3, MESSAGES = 8 };

static uint64_t hashes[THREADS];

static void note(int thread, long value)
{
    hashes[thread] = check_mix(hashes[thread] * 31 + (uint64_t)value + 1);
}

static void receive(int thread, int tag)
{
    long value = -1;
    MPI_Status status;

    MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    note(thread, value);
    note(thread, status.MPI_SOURCE);
}

/* All is sent before anything is received: no thread waits for another's critical section. */
static void run(int thread)
{
    for (int step = 0; step < MESSAGES; step++) {
        check_sleep_ms((check.order == CHECK_DOWN ? THREADS - 1 - thread : thread) * 2);
        for (int r = 0; r < check.size; r++) {
            check_send(r, 50, thread * 1000 + step, MPI_COMM_WORLD);
            check_send(r, thread, thread * 1000 + step, MPI_COMM_WORLD);
        }
    }
    for (int i = 0; i < MESSAGES * check.size; i++) {
#pragma omp critical
        receive(thread, 50);
#pragma omp critical(named)
        receive(thread, thread);
    }
}

int main(int argc, char **argv)
{
    if (check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE)
        return check_skip();
#pragma omp parallel num_threads(THREADS)
    run(omp_get_thread_num());
    for (int i = 0; i < THREADS; i++)
        check_note((long)hashes[i]);
    return check_end();
}
