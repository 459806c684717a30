/* SPDX-License-Identifier: MIT */
/* usage: SIDE SYMMETRIC: a Poisson problem on a square. */
#include <dmumps_c.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, side = argc > 1 ? atoi(argv[1]) : 60, n = side * side, entries = 0;
    DMUMPS_STRUC_C id = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    id.comm_fortran = -987654;
    id.par = 1;
    id.sym = argc > 2 ? atoi(argv[2]) : 0;
    id.job = -1;
    dmumps_c(&id);
    MUMPS_INT *row = malloc(5 * n * sizeof *row), *column = malloc(5 * n * sizeof *column);
    double *value = malloc(5 * n * sizeof *value), *right = malloc(n * sizeof *right);
    for (int i = 0; i < n && rank == 0; i++) {
        int x = i % side, y = i / side,
            near[5] = {i, x > 0 ? i - 1 : -1, x < side - 1 ? i + 1 : -1, y > 0 ? i - side : -1,
                       y < side - 1 ? i + side : -1};
        right[i] = 1 + i % 7;
        for (int k = 0; k < 5; k++)
            if (near[k] >= 0 && (!id.sym || near[k] <= i))
                row[entries] = i + 1, column[entries] = near[k] + 1,
                value[entries++] = k ? -1 : 4.001;
    }
    if (rank == 0)
        id.n = n, id.nnz = entries, id.irn = row, id.jcn = column, id.a = value, id.rhs = right;
    for (int i = 0; i < 3; i++)
        id.icntl[i] = -1;
    id.job = 6;
    dmumps_c(&id);
    double sum = 0;
    for (int i = 0; i < n && rank == 0; i++)
        sum += right[i] * (1 + i % 3);
    if (rank == 0)
        printf("info %d sum %a\n", (int)id.info[0], sum);
    id.job = -2;
    dmumps_c(&id);
    MPI_Finalize();
    return 0;
}
