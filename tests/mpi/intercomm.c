/* SPDX-License-Identifier: MIT */
// ranks: 5
// native: differs
// also: clocks
// about: wildcards on an intercommunicator, in both groups, and on its merge
#include "check.h"

enum { ROUNDS = 4, TAG = 1, GROUP_ZERO = 2 };

static int in_zero(void)
{
    return check.rank < GROUP_ZERO;
}

static MPI_Comm create(void)
{
    MPI_Comm local, inter;

    MPI_Comm_split(MPI_COMM_WORLD, in_zero(), check.rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, in_zero() ? GROUP_ZERO : 0, 77, &inter);
    MPI_Comm_free(&local);
    return inter;
}

// Each rank sends to all of the remote group and receives as many, in the order of arrival.
static void exchange(MPI_Comm inter, int step)
{
    int remote;
    long mine = check_value(check.rank, step);
    MPI_Request sends[8];

    MPI_Comm_remote_size(inter, &remote);
    check_pace(step);
    for (int r = 0; r < remote; r++)
        MPI_Isend(&mine, 1, MPI_LONG, r, TAG, inter, &sends[r]);
    for (int i = 0; i < remote; i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
        int world = status.MPI_SOURCE + (in_zero() ? GROUP_ZERO : 0);
        CHECK(value / 1000000 == world, "value %ld from remote rank %d", value, status.MPI_SOURCE);
        check_note(value);
        check_note_status(&status);
    }
    MPI_Waitall(remote, sends, MPI_STATUSES_IGNORE);
}

static void exchange_nonblocking(MPI_Comm inter, int step)
{
    int remote, index;
    long mine = check_value(check.rank, step), values[8];
    MPI_Request requests[16];
    MPI_Status status;

    MPI_Comm_remote_size(inter, &remote);
    for (int i = 0; i < remote; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, inter, &requests[i]);
    check_pace(step);
    for (int r = 0; r < remote; r++)
        MPI_Isend(&mine, 1, MPI_LONG, r, TAG, inter, &requests[remote + r]);
    while (MPI_Waitany(2 * remote, requests, &index, &status), index != MPI_UNDEFINED) {
        check_note(index);
        if (index < remote) {
            check_note(values[index]);
            check_note_status(&status);
        }
    }
}

static void on_merge(MPI_Comm inter)
{
    int rank, size;
    MPI_Comm merged;

    MPI_Intercomm_merge(inter, in_zero(), &merged);
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    check_note(rank);
    if (rank != 0) {
        check_pace(0);
        check_send(0, TAG, 0, merged);
    }
    for (int i = 1; rank == 0 && i < size; i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, merged, &status);
        check_note(value);
        check_note_status(&status);
    }
    MPI_Comm_free(&merged);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm inter = create();
    for (int step = 0; step < ROUNDS; step++) {
        exchange(inter, step);
        exchange_nonblocking(inter, step);
    }
    on_merge(inter);
    MPI_Comm_free(&inter);
    return check_end();
}
