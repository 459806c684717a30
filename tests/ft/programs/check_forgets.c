/* SPDX-License-Identifier: MIT */
/* A loop with a variable that is protected only if ALL is defined. */
#include <mpi.h>
#include <stdio.h>
#include "reprise.h"

int main(int argc, char **argv)
{
    double sum = 0, forgotten = 1, all = 0;
    MPI_Init(&argc, &argv);
    reprise_protect(0, &sum, sizeof sum);
#ifdef ALL
    reprise_protect(1, &forgotten, sizeof forgotten);
#endif
    REPRISE_LOOP(i, 0, 20)
    {
        forgotten *= 1.5;
        MPI_Allreduce(&forgotten, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
    }
    printf("RESULT %.17g\n", sum);
    MPI_Finalize();
    return 0;
}
