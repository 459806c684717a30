/* SPDX-License-Identifier: MIT */
/* Rows of a file by PnetCDF, with messages from anyone behind them. */
#include "parallelio_order.h"
#include <pnetcdf.h>
enum { ROWS = 4, COLUMNS = 64, MOST = 16 };

int main(int argc, char **argv)
{
    int rank, ranks, file, dims[2], variable, requests[ROWS], statuses[ROWS], rows[ROWS][COLUMNS];
    static int all[MOST * ROWS * COLUMNS];
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ncmpi_create(MPI_COMM_WORLD, "rows.nc", NC_CLOBBER, MPI_INFO_NULL, &file);
    ncmpi_def_dim(file, "y", ROWS * ranks, &dims[0]);
    ncmpi_def_dim(file, "x", COLUMNS, &dims[1]);
    ncmpi_def_var(file, "rows", NC_INT, 2, dims, &variable);
    ncmpi_enddef(file);
    for (int k = 0; k < ROWS; k++) {
        MPI_Offset start[2] = {k * ranks + rank, 0}, count[2] = {1, COLUMNS};
        for (int i = 0; i < COLUMNS; i++)
            rows[k][i] = rank * 1000 + k * 100 + i;
        ncmpi_iput_vara_int(file, variable, start, count, rows[k], &requests[k]);
    }
    ncmpi_wait_all(file, ROWS, requests, statuses);
    ncmpi_get_var_int_all(file, variable, all);
    ncmpi_close(file);
    for (int i = 0; i < ranks * ROWS * COLUMNS; i++)
        sum = sum * 3 % 1000003 + all[i];
    print_order(rank, ranks, sum);
    return MPI_Finalize();
}
