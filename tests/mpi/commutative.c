/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// about: a commutative region (reprise.h): what the receives in it make is the same in every order,
//     and the record has them in none
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "reprise.h"

enum { ROUNDS = 12, TAG = 3 };

/* With an argument, what is done next depends on which was received last: that is not
 * commutative. */
int main(int argc, char **argv)
{
    int rank, ranks, value, probed;
    long sum = 0;
    unsigned long order = 0;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < ROUNDS; round++) {
        int last = 1;
        if (rank != 0) {
            value = rank * 100 + round;
            MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
            MPI_Send(&value, 1, MPI_INT, 0, TAG + 1 + round % 2, MPI_COMM_WORLD);
        } else {
            reprise_commutative_begin(2ul * (unsigned long)(ranks - 1));
            for (int i = 0; i < 2 * (ranks - 1); i++) {
                MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, i < ranks - 1 ? TAG : MPI_ANY_TAG,
                         MPI_COMM_WORLD, &status);
                sum += value * value;
                order = order * 31 + (unsigned long)status.MPI_SOURCE;
                last = status.MPI_SOURCE;
                if (round % 3 == 0 && i == 1) /* others in between are recorded as ever */
                    MPI_Iprobe(MPI_ANY_SOURCE, TAG + 9, MPI_COMM_WORLD, &probed, &status);
            }
            reprise_commutative_end();
        }
        if (argc > 1) {
            MPI_Bcast(&last, 1, MPI_INT, 0, MPI_COMM_WORLD);
            if (rank == 1 && last == 1)
                MPI_Send(&last, 1, MPI_INT, 0, TAG + 5, MPI_COMM_WORLD);
            if (rank == 0 && last == 1)
                MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 5, MPI_COMM_WORLD, &status);
            else if (rank == 0) {
                MPI_Request self;
                MPI_Isend(&last, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &self);
                MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status);
                MPI_Recv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &status);
                MPI_Wait(&self, MPI_STATUS_IGNORE);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) {
        fprintf(stderr, "ORDER %lu\n", order);
        printf("RESULT %ld\n", sum);
    }
    MPI_Finalize();
    return 0;
}
