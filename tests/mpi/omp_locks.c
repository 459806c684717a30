/* SPDX-License-Identifier: MIT */
// ranks: 3
// also: solo
// flags: -fopenmp
// det: refused: by another thread
// native: differs
// about: OpenMP threads take work under simple and nested locks and in critical sections; who gets
//     what is part of the result
#include "check_threads.h"

#include <omp.h>

enum { ITEMS = 16, TAG = 3 };

static omp_lock_t simple;
static omp_nest_lock_t nested;
static long next_item[3];

static long take(struct check_thread *self, int kind)
{
    long item = 0;

    if (kind == 0) {
        int got = omp_test_lock(&simple);
        check_thread_note(self, got);
        if (!got)
            omp_set_lock(&simple);
        item = next_item[0]++;
        omp_unset_lock(&simple);
    } else if (kind == 1) {
        omp_set_nest_lock(&nested);
        check_thread_note(self, omp_test_nest_lock(&nested));
        item = next_item[1]++;
        omp_unset_nest_lock(&nested);
        omp_unset_nest_lock(&nested);
    } else {
#pragma omp critical(items)
        item = next_item[2]++;
    }
    return item;
}

static void exchange(struct check_thread *self, long item)
{
    long value = -1;
    MPI_Status status;

    MPI_Sendrecv(&item, 1, MPI_LONG, (check.rank + 1) % check.size, TAG, &value, 1, MPI_LONG,
                 MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    check_thread_note_status(self, value, &status);
}

int main(int argc, char **argv)
{
    if (!check_start_threads(&argc, &argv))
        return check_skip();
    omp_init_lock(&simple);
    omp_init_nest_lock(&nested);
#pragma omp parallel num_threads(CHECK_THREADS)
    {
        struct check_thread *self = &check_threads[omp_get_thread_num()];

        self->number = omp_get_thread_num();
        for (int kind = 0; kind < 3; kind++)
            for (long item; (item = take(self, kind)) < ITEMS;) {
                check_thread_note(self, item);
                exchange(self, item);
                check_sleep_ms((item + check.rank) % 2);
            }
    }
    for (int i = 0; i < CHECK_THREADS; i++)
        check_note((long)check_threads[i].hash);
    return check_end();
}
