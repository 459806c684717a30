/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// about: commutative regions that are closed before as many messages came as they were begun for:
//     what comes behind their ends is none of theirs
#include "check.h"

#include <limits.h>

#include "reprise.h"

enum { ROUNDS = 10, TAG = 3 };

/* In even rounds the ranks meet behind the region; in odd ones messages of the next may already be
 * there. */
int main(int argc, char **argv)
{
    static const unsigned long counts[] = {100, 4, ULONG_MAX, 3};
    int rank, ranks, value;
    long sum = 0, weighed = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank != 0) {
            value = rank * 100 + round;
            MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
        } else {
            reprise_commutative_begin(counts[round % 4]);
            for (int i = 0; i < ranks - 1; i++) {
                MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
                sum += value * value;
            }
            reprise_commutative_end();
            weighed += sum * (round + 1);
        }
        if (round % 2 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) {
        fprintf(stderr, "WEIGHED %ld\n", weighed); /* which messages were in which region */
        printf("RESULT %ld\n", sum);
    }
    MPI_Finalize();
    return 0;
}
