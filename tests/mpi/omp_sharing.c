/* SPDX-License-Identifier: MIT */
// ranks: 3
// also: solo
// flags: -fopenmp
// det: refused: by another thread
// native: differs
// about: OpenMP threads exchange messages in blocks of one, in loops that are shared out as they
//     go, and in sections; who does what is part of the result
#include "check_threads.h"

#include <omp.h>

enum { ITEMS = 12, TAG = 3 };

static void exchange(long item)
{
    struct check_thread *self = &check_threads[omp_get_thread_num()];
    long value = -1;
    MPI_Status status;

    check_thread_note(self, item);
    MPI_Sendrecv(&item, 1, MPI_LONG, (check.rank + 1) % check.size, TAG, &value, 1, MPI_LONG,
                 MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    check_thread_note_status(self, value, &status);
    check_sleep_ms((item + check.rank) % 2);
}

static void loops(void)
{
#pragma omp for schedule(dynamic)
    for (int i = 0; i < ITEMS; i++)
        exchange(i);
#pragma omp for schedule(guided)
    for (long i = 0; i < ITEMS; i++)
        exchange(100 + i);
#pragma omp for schedule(dynamic, 2) nowait
    for (unsigned long i = 0; i < ITEMS; i++)
        exchange(200 + (long)i);
#pragma omp for schedule(runtime)
    for (int i = 0; i < ITEMS; i++)
        exchange(300 + i);
}

static void sections(void)
{
#pragma omp sections
    {
#pragma omp section
        exchange(401);
#pragma omp section
        exchange(402);
#pragma omp section
        exchange(403);
#pragma omp section
        exchange(404);
    }
}

int main(int argc, char **argv)
{
    if (!check_start_threads(&argc, &argv))
        return check_skip();
    omp_set_schedule(omp_sched_dynamic, 1);
#pragma omp parallel num_threads(CHECK_THREADS)
    {
        check_threads[omp_get_thread_num()].number = omp_get_thread_num();
        for (int i = 0; i < ITEMS / 2; i++) {
#pragma omp single
            exchange(500 + i);
        }
        loops();
        sections();
#pragma omp single nowait
        exchange(600);
    }
    /* A loop that is the whole of its region. */
#pragma omp parallel for schedule(dynamic) num_threads(CHECK_THREADS)
    for (int i = 0; i < ITEMS; i++)
        exchange(700 + i);
    for (int i = 0; i < CHECK_THREADS; i++)
        check_note((long)check_threads[i].hash);
    return check_end();
}
