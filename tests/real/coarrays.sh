# SPDX-License-Identifier: MIT
# Coarrays of Fortran, which gfortran leaves to OpenCoarrays: one-sided MPI, which needs the data of ranks.
packages=(gfortran libcoarrays-openmpi-dev libcoarrays-mpich-dev)
inputs() {
    cat >sum.f90 <<'END'
program neighbours
    implicit none
    integer :: value[*], left
    value = 10 * this_image()
    sync all
    left = merge(num_images(), this_image() - 1, this_image() == 1)
    print *, this_image(), value[left]
end program
END
    gfortran -fcoarray=lib -o neighbours sum.f90 "-lcaf_$mpi" >compile.log 2>&1 || cat compile.log >&2
}
refuses='MPI_Win_[a-z_]* cannot be replayed yet' windows=yes
app() {
    local mpi
    for mpi in openmpi mpich; do try coarrays "$mpi" 2 ./neighbours; done
}
