/* SPDX-License-Identifier: MIT */
/* Rows of a file by HDF5, with messages from anyone behind them. */
#include "parallelio_order.h"
#include <hdf5.h>
enum { ROWS = 4, COLUMNS = 32 };

int main(int argc, char **argv)
{
    int rank, ranks, rows[ROWS * COLUMNS];
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    hsize_t all[2] = {ranks * ROWS, COLUMNS}, start[2] = {rank * ROWS, 0},
            part[2] = {ROWS, COLUMNS};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    hid_t file = H5Fcreate("rows.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access),
          space = H5Screate_simple(2, all, NULL), memory = H5Screate_simple(2, part, NULL);
    hid_t set =
        H5Dcreate(file, "rows", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        rows[i] = rank * 1000 + i;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL);
    H5Dwrite(set, H5T_NATIVE_INT, memory, space, transfer, rows);
    start[0] = (rank + 1) % ranks * ROWS;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL);
    H5Dread(set, H5T_NATIVE_INT, memory, space, transfer, rows);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        sum += rows[i] * (i + 1L);
    H5Pclose(transfer);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    H5Pclose(access);
    print_order(rank, ranks, sum);
    return MPI_Finalize();
}
