/* SPDX-License-Identifier: MIT */
// ranks: 4
// natively: 60
// det: refused: cannot be made deterministic
// native: differs
// needs: mpi4
// also: clocks solo
// about: partitioned communication, MPI_Parrived polled, beside wildcard receives
#include "check.h"

#if MPI_VERSION >= 4 // Open MPI 5.0.7 has these functions and stands still in them natively

enum { ROUNDS = 4, PARTITIONS = 4, TAG = 1, TAG_WILD = 2 };

// Polls until every partition has arrived; notes the order in which they were seen.
static long poll(MPI_Request request)
{
    int seen[PARTITIONS] = {0};
    long failed = 0;

    for (int left = PARTITIONS, i = 0; left > 0; i = (i + 1) % PARTITIONS) {
        int flag = 0;
        if (seen[i])
            continue;
        MPI_Parrived(request, i, &flag);
        failed += !flag;
        if (flag) {
            seen[i] = 1;
            left--;
            check_note(i);
        }
        sched_yield();
    }
    return failed;
}

static void receive_step(MPI_Request *partitioned, const long *values, int step)
{
    long value = -1;
    MPI_Status status;

    MPI_Start(partitioned);
    check_note(poll(*partitioned));
    MPI_Wait(partitioned, MPI_STATUS_IGNORE);
    for (int i = 0; i < PARTITIONS; i++)
        CHECK(values[i] == check_value(1, step * PARTITIONS + i), "value %ld", values[i]);
    for (int r = 2; r < check.size; r++) {
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_WILD, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
}

static void receive_all(void)
{
    long values[PARTITIONS];
    MPI_Request request;

    MPI_Precv_init(values, PARTITIONS, 1, MPI_LONG, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    for (int step = 0; step < ROUNDS; step++)
        receive_step(&request, values, step);
    MPI_Request_free(&request);
}

static void send_partitions(void)
{
    long values[PARTITIONS];
    MPI_Request request;

    MPI_Psend_init(values, PARTITIONS, 1, MPI_LONG, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    for (int step = 0; step < ROUNDS; step++) {
        MPI_Start(&request);
        for (int i = PARTITIONS - 1; i >= 0; i--) {
            values[i] = check_value(check.rank, step * PARTITIONS + i);
            check_pace(step);
            MPI_Pready(i, request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check.rank == 0)
        receive_all();
    if (check.rank == 1)
        send_partitions();
    for (int step = 0; check.rank > 1 && step < ROUNDS; step++)
        check_send_paced(0, TAG_WILD, step);
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}

#endif
