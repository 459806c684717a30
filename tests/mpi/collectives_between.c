/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: wildcard messages that cross blocking collectives: sent or posted before, received or
//     waited for after
#include "check.h"

enum { ROUNDS = 6, TAG = 1 };

static void collective(int step)
{
    long mine = check.rank, result = -1, all[8];

    switch (step % 6) {
    case 0:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case 1:
        MPI_Bcast(&mine, 1, MPI_LONG, 1, MPI_COMM_WORLD);
        break;
    case 2:
        MPI_Allreduce(&mine, &result, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        break;
    case 3:
        MPI_Reduce(&mine, &result, 1, MPI_LONG, MPI_SUM, 2, MPI_COMM_WORLD);
        break;
    case 4:
        MPI_Allgather(&mine, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD);
        break;
    default:
        MPI_Scan(&mine, &result, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        break;
    }
    CHECK(step % 6 != 1 || mine == 1, "broadcast %ld", mine);
    CHECK(step % 6 != 2 || result == check.size - 1, "maximum %ld", result);
}

static void exchange(int step)
{
    long mine = check_value(check.rank, step), values[2];
    MPI_Request sends[3], receives[2];
    MPI_Status status;

    for (int i = 0; i < 2; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &receives[i]);
    check_pace(step);
    for (int i = 1; i < check.size; i++)
        MPI_Isend(&mine, 1, MPI_LONG, (check.rank + i) % check.size, TAG, MPI_COMM_WORLD,
                  &sends[i - 1]);
    collective(step);
    for (int i = 1; i >= 0; i--) {
        MPI_Wait(&receives[i], &status);
        check_note_message(values[i], &status);
    }
    collective(step + 1);
    MPI_Recv(&values[0], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    check_note_message(values[0], &status);
    MPI_Waitall(check.size - 1, sends, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; step < ROUNDS; step++)
        exchange(step);
    return check_end();
}
