/* SPDX-License-Identifier: MIT */
// ranks: 4
// also: solo
// det: refused: by another thread
// native: differs
// about: four threads a rank receive by wildcard on one communicator, each in its own way, while
//     all of them send
#include "check_threads.h"

enum { MESSAGES = 6 };

static long await_by_test(MPI_Status *status)
{
    long value = -1;
    int flag = 0;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &flag, status), !flag)
        sched_yield();
    return value;
}

static long take_probed(MPI_Status *status)
{
    MPI_Message message;
    long value = -1;
    int flag = 0;

    while (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, status), !flag)
        sched_yield();
    MPI_Mrecv(&value, 1, MPI_LONG, &message, MPI_STATUS_IGNORE);
    return value;
}

static long receive(int way, MPI_Status *status)
{
    long value = -1;
    MPI_Request request;

    if (way == 0)
        return MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status),
               value;
    if (way == 1)
        return await_by_test(status);
    if (way == 2)
        return take_probed(status);
    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, status);
    return value;
}

static void *run(void *data)
{
    struct check_thread *self = data;
    MPI_Status status;

    for (int step = 0; step < MESSAGES; step++) {
        check_pace(step);
        check_thread_pace(self);
        for (int r = 0; r < check.size; r++)
            check_send(r, self->number, self->number * 1000 + step, MPI_COMM_WORLD);
        for (int i = 0; i < check.size; i++) {
            long value = receive((self->number + step) % 4, &status);
            CHECK(value / 1000000 == status.MPI_SOURCE, "value %ld from %d", value,
                  status.MPI_SOURCE);
            check_thread_note_status(self, value, &status);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (!check_start_threads(&argc, &argv))
        return check_skip();
    check_run_threads(run);
    return check_end();
}
