# SPDX-License-Identifier: MIT
# Libraries on MPI-IO, with messages from anyone between their calls: PnetCDF and h5py on Open MPI, HDF5 on MPICH.
packages=(libpnetcdf-dev libhdf5-mpich-dev python3-h5py-mpi)
inputs() {
    cat >order.h <<'END'
#include <mpi.h>
#include <stdio.h>
/* In which order the others come to rank 0 */
static void print_order(int rank, int ranks, long sum)
{
    char line[200];
    int from = rank, used = sprintf(line, "%d %ld", rank, sum);
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 1; i < ranks && rank == 0; i++) {
        MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        used += sprintf(line + used, " %d", from);
    }
    puts(line);
    fflush(stdout);
}
END
    cat >pnetcdf.c <<'END'
#include "order.h"
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
END
    cat >hdf5.c <<'END'
#include "order.h"
#include <hdf5.h>
enum { ROWS = 4, COLUMNS = 32 };

int main(int argc, char **argv)
{
    int rank, ranks, rows[ROWS * COLUMNS];
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    hsize_t all[2] = {ranks * ROWS, COLUMNS}, start[2] = {rank * ROWS, 0}, part[2] = {ROWS, COLUMNS};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    hid_t file = H5Fcreate("rows.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access), space = H5Screate_simple(2, all, NULL), memory = H5Screate_simple(2, part, NULL);
    hid_t set = H5Dcreate(file, "rows", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
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
END
    cat >rows.py <<'END'
import sys
from mpi4py import MPI
import h5py, numpy

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
with h5py.File("rows.h5", "w", driver="mpio", comm=comm) as file:
    rows = file.create_dataset("rows", (size * 4, 100), dtype="f8", chunks=(2, 50))
    with rows.collective:
        rows[rank * 4:(rank + 1) * 4, :] = numpy.arange(400).reshape(4, 100) * (rank + 1)
order = [comm.recv(source=MPI.ANY_SOURCE) for _ in range(size - 1)] if rank == 0 else comm.send(rank, 0)
with h5py.File("rows.h5", "r", driver="mpio", comm=comm) as file:
    sys.stdout.write("%d %r %r\n" % (rank, float(file["rows"][:, rank::size].sum()), order))
END
    local hdf5=/usr/lib/$(gcc -print-multiarch)/hdf5/mpich
    { mpicc.openmpi -o pnetcdf pnetcdf.c -lpnetcdf && mpicc.mpich -I/usr/include/hdf5/mpich -o hdf5 hdf5.c -L"$hdf5" -Wl,-rpath,"$hdf5" -lhdf5; } >compile.log 2>&1 || cat compile.log >&2
}
results() { sort "$1"; }
app() {
    try pnetcdf openmpi 4 ./pnetcdf
    try hdf5 mpich 4 ./hdf5
    flags=(--mpi openmpi)
    try h5py openmpi 3 /usr/bin/python3 rows.py
}
