/* SPDX-License-Identifier: MIT */
// ranks: 4
// also: solo
// det: refused: by another thread
// native: differs
// about: four threads a rank, each on a communicator of its own, with Waitany, Waitsome, Sendrecv
//     and named receives
#include "check_threads.h"

enum { ROUNDS = 5 };

static MPI_Comm comms[CHECK_THREADS];

static void all_to_all(struct check_thread *self, MPI_Comm comm, int step)
{
    long values[8], mine = check_value(check.rank, step);
    MPI_Request requests[8];
    MPI_Status status;

    for (int i = 0; i < check.size; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, step, comm, &requests[i]);
    check_pace(step);
    check_thread_pace(self);
    for (int r = 0; r < check.size; r++)
        MPI_Send(&mine, 1, MPI_LONG, r, step, comm);
    for (int i = 0; i < check.size; i++) {
        int index = -1;
        MPI_Waitany(check.size, requests, &index, &status);
        check_thread_note(self, index);
        check_thread_note_status(self, values[index], &status);
    }
}

static void some(struct check_thread *self, MPI_Comm comm, int step)
{
    long values[8], mine = check_value(check.rank, step);
    int indices[8], count = 0, left = check.size;
    MPI_Request requests[8];
    MPI_Status statuses[8];

    for (int i = 0; i < check.size; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, 100 + step, comm, &requests[i]);
    check_pace(step);
    for (int r = 0; r < check.size; r++)
        MPI_Send(&mine, 1, MPI_LONG, r, 100 + step, comm);
    while (left > 0) {
        MPI_Waitsome(check.size, requests, &count, indices, statuses);
        check_thread_note(self, count);
        for (int i = 0; i < count; i++)
            check_thread_note_status(self, values[indices[i]], &statuses[i]);
        left -= count;
    }
}

static void ring(struct check_thread *self, MPI_Comm comm, int step)
{
    int right = (check.rank + 1) % check.size, left = (check.rank + check.size - 1) % check.size;
    long value = check_value(check.rank, step), other = -1;
    MPI_Status status;

    MPI_Sendrecv(&value, 1, MPI_LONG, right, 200, &other, 1, MPI_LONG, MPI_ANY_SOURCE, 200, comm,
                 &status);
    CHECK(status.MPI_SOURCE == left && other == check_value(left, step), "%ld from %d", other,
          status.MPI_SOURCE);
    MPI_Sendrecv_replace(&value, 1, MPI_LONG, right, 201, left, MPI_ANY_TAG, comm, &status);
    CHECK(value == other, "%ld", value);
    check_thread_note_status(self, value, &status);
}

static void *run(void *data)
{
    struct check_thread *self = data;
    MPI_Comm comm = comms[self->number];

    for (int step = 0; step < ROUNDS; step++) {
        all_to_all(self, comm, step);
        ring(self, comm, step);
        if (step % 2 == 0)
            MPI_Barrier(comm);
    }
    some(self, comm, 0);
    return NULL;
}

int main(int argc, char **argv)
{
    if (!check_start_threads(&argc, &argv))
        return check_skip();
    for (int i = 0; i < CHECK_THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    check_run_threads(run);
    for (int i = 0; i < CHECK_THREADS; i++)
        MPI_Comm_free(&comms[i]);
    return check_end();
}
