/* SPDX-License-Identifier: MIT */
/* Windows of memory that their owner has not stored into; others put there what is there already.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 40000 };

static long sum(const long *memory)
{
    long all = 0;

    for (int i = 0; i < COUNT; i++)
        all = all * 31 + memory[i];
    return all;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Win win, dynamic;
    MPI_Aint here, there;
    long *created = malloc(COUNT * sizeof *created), *attached = malloc(COUNT * sizeof *attached),
         *values = calloc(COUNT, sizeof *values);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COUNT; i += 100)
        values[i] = rank + i;
    /* A call that fails tells of its memory, too, and the next has none to tell of. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int failed = MPI_Win_create(values, COUNT * sizeof *values, -7, MPI_INFO_NULL, MPI_COMM_WORLD,
                                &win) != MPI_SUCCESS;
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_free(&win);
    MPI_Win_create(created, COUNT * sizeof *created, sizeof *created, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_fence(0, win);
    MPI_Put(values, COUNT, MPI_LONG, (rank + 1) % size, 0, COUNT, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_attach(dynamic, attached, COUNT * sizeof *attached);
    MPI_Get_address(attached, &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, (rank + size - 1) % size, 0, &there, 1, MPI_AINT,
                 (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, dynamic);
    MPI_Put(values, COUNT, MPI_LONG, (rank + 1) % size, there, COUNT, MPI_LONG, dynamic);
    MPI_Win_fence(0, dynamic);
    printf("RESULT rank=%d created=%ld attached=%ld failed=%d\n", rank, sum(created), sum(attached),
           failed);
    MPI_Win_detach(dynamic, attached);
    MPI_Win_free(&dynamic);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
