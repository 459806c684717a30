# SPDX-License-Identifier: MIT
# Libraries on MPI-IO, with messages from anyone between their calls: PnetCDF and h5py on Open MPI, HDF5 on MPICH.
packages=(libpnetcdf-dev libhdf5-mpich-dev python3-h5py-mpi)
inputs() {
    cp "$programs/parallelio_rows.py" rows.py
    local hdf5=/usr/lib/$(gcc -print-multiarch)/hdf5/mpich
    { mpicc.openmpi -o pnetcdf "$programs/parallelio_pnetcdf.c" -lpnetcdf && mpicc.mpich -I/usr/include/hdf5/mpich -o hdf5 "$programs/parallelio_hdf5.c" -L"$hdf5" -Wl,-rpath,"$hdf5" -lhdf5; } >compile.log 2>&1 || cat compile.log >&2
}
results() { sort "$1"; }
app() {
    try pnetcdf openmpi 4 ./pnetcdf
    try hdf5 mpich 4 ./hdf5
    flags=(--mpi openmpi)
    try h5py openmpi 3 /usr/bin/python3 rows.py
}
