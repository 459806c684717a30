/* SPDX-License-Identifier: MIT */
// ranks: 3
// flags: -fopenmp
// det: differs
// native: differs
// record: --threads --capture time,random
// about: OpenMP threads that never call MPI share out loops, enter critical sections, add up, and
//     ask for time and random numbers, while only the main thread communicates, whose messages
//     depend on it
#include "check.h"

#include <omp.h>
#include <sys/random.h>

enum { THREADS = 4, ITEMS = 24, STEPS = 3, TAG = 4 };

static uint64_t history; /* of all threads, in the order in which they came */

static void pace(int thread)
{
    check_sleep_ms((check.order == CHECK_DOWN ? THREADS - 1 - thread : thread) * 2);
}

static void enter(int thread, long value)
{
#pragma omp critical
    history = check_mix(history * 31 + (uint64_t)(value * THREADS + thread) + 1);
}

static void share(void)
{
#pragma omp parallel num_threads(THREADS)
    {
        int thread = omp_get_thread_num();
#pragma omp for schedule(dynamic)
        for (int i = 0; i < ITEMS; i++) {
            pace(thread);
            enter(thread, i);
        }
    }
}

static void ask(void)
{
    long asked[THREADS] = {0};

#pragma omp parallel num_threads(THREADS)
    {
        struct timespec now;
        unsigned short number = 0;
        clock_gettime(CLOCK_MONOTONIC, &now);
        CHECK(getrandom(&number, sizeof number, 0) == sizeof number, "getrandom");
        asked[omp_get_thread_num()] = now.tv_nsec ^ number ^ (long)(omp_get_wtime() * 1e6);
    }
    for (int i = 0; i < THREADS; i++)
        check_note(asked[i]);
}

/* Sums of numbers of very different size depend on the order, and so does what is left of the small
 * ones. */
static void add_up(void)
{
    double sum = 0, other = 0;

#pragma omp parallel num_threads(THREADS) reduction(+ : sum, other)
    {
        int thread = omp_get_thread_num();
        static const double terms[THREADS] = {1e16, 1.25, -1e16, 3.5};
        pace(thread);
        sum += terms[thread];
        other += terms[THREADS - 1 - thread];
    }
    check_note((long)(sum * 4));
    check_note((long)(other * 4));
}

int main(int argc, char **argv)
{
    check_start_thread(&argc, &argv, MPI_THREAD_FUNNELED);
    for (int step = 0; step < STEPS; step++) {
        long value = -1;
        MPI_Status status;
        share();
        ask();
        add_up();
        check_note((long)history);
        /* The path depends on the threads: the tag does. */
        check_send((check.rank + 1) % check.size, TAG + (int)(history % 2), (long)history,
                   MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        check_note(value);
        check_note(status.MPI_TAG);
    }
    return check_end();
}
