/* SPDX-License-Identifier: MIT */
// ranks: 3
// det: refused: by another thread
// native: differs
// about: four threads a rank exchange with anyone by MPI_Isendrecv, each with requests of its own
#include "check_threads.h"

#if CHECK_HAS_MPI_4

enum { ROUNDS = 4, TAG = 1 };

static void *exchange(void *argument)
{
    struct check_thread *self = argument;

    for (int step = 0; step < ROUNDS; step++) {
        long out[2], in[2];
        int index;
        MPI_Request requests[2];
        check_thread_pace(self);
        for (int k = 0; k < 2; k++) {
            out[k] = check_value(check.rank, self->number * 100 + step * 10 + k);
            MPI_Isendrecv(&out[k], 1, MPI_LONG, (check.rank + k + 1) % check.size, TAG, &in[k], 1,
                          MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[k]);
        }
        while (MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE), index != MPI_UNDEFINED) {
            check_thread_note(self, index);
            check_thread_note(self, in[index]);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (!check_start_threads(&argc, &argv))
        return check_skip();
    check_pace(0);
    check_run_threads(exchange);
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}

#endif
