/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// about: the sorting pattern of the Sequoia IOR benchmark (Lifflander et al., Scalable Replay with
//     Partial-Order Dependencies, section V-A): receives from any source form a commutative region,
//     since what they bring is sorted behind it
#include "check.h"

#include <stdlib.h>

#include "reprise.h"

enum { ROUNDS = 6, MOST = 64 };

static int compare(const void *one, const void *other)
{
    long a = *(const long *)one, b = *(const long *)other;

    return (a > b) - (a < b);
}

static void gather_sorted(int num_tasks, long *arr)
{
    reprise_commutative_begin((unsigned long)num_tasks - 1);
    for (int i = 1; i < num_tasks; i++)
        MPI_Recv(&arr[i - 1], 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    reprise_commutative_end();
    qsort(arr, (size_t)num_tasks - 1, sizeof *arr, compare);
}

int main(int argc, char **argv)
{
    long arr[MOST];

    check_start(&argc, &argv);
    CHECK(check.size <= MOST, "%d ranks", check.size);
    for (int round = 0; round < ROUNDS; round++) {
        if (check.rank == 0) {
            gather_sorted(check.size, arr);
            for (int i = 1; i < check.size; i++)
                check_note(arr[i - 1]);
        } else {
            long data = (long)(check_mix((uint64_t)(check.rank * ROUNDS + round)) % 1000);
            check_pace(round);
            MPI_Send(&data, 1, MPI_LONG, 0, check.rank, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD); /* or else a fast sender's next one comes into this round */
    }
    return check_end();
}
