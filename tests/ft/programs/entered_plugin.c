/* SPDX-License-Identifier: MIT */
/* A plugin that calls MPI. */
#include <mpi.h>

int run(void);
int run(void)
{
    MPI_Init(NULL, NULL);
    return MPI_Finalize();
}
