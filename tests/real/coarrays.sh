# SPDX-License-Identifier: MIT
# Coarrays of Fortran, which gfortran leaves to OpenCoarrays: one-sided MPI, which needs the data of ranks.
packages=(gfortran libcoarrays-openmpi-dev libcoarrays-mpich-dev)
inputs() {
    gfortran -fcoarray=lib -o shares "$programs/coarrays_shares.f90" "-lcaf_$mpi" >compile.log 2>&1 || cat compile.log >&2
}
results() { grep -v UCX "$1"; } # MPICH's transport complains of itself
refuses='MPI_Win_[a-z_]* cannot be replayed yet' windows=yes
unset OMPI_MCA_btl_vader_single_copy_mechanism # Open MPI makes these windows only where memory of others can be reached directly
app() {
    local mpi
    for mpi in openmpi mpich; do try coarrays "$mpi" 3 ./shares; done
}
