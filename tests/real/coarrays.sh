# SPDX-License-Identifier: MIT
# Coarrays of Fortran, which gfortran leaves to OpenCoarrays: one-sided MPI, which needs the data of ranks.
packages=(gfortran libcoarrays-openmpi-dev libcoarrays-mpich-dev)
inputs() {
    cat >shares.f90 <<'END'
program shares
    implicit none
    integer, parameter :: n = 30
    integer :: next[*], table(n)[*], place, image, i, mine
    table = 0
    next = 0
    sync all
    do ! who takes a place is a race
        critical
            place = next[1]
            next[1] = place + 1
        end critical
        if (place >= n) exit
        image = 1 + mod(place, num_images())
        table(place + 1)[image] = 100 * this_image() + place
    end do
    sync all
    mine = 0
    do i = 1, n
        mine = mod(mine * 3 + table(i), 1000003)
    end do
    print *, 'image', this_image(), mine, sum(table)
end program
END
    gfortran -fcoarray=lib -o shares shares.f90 "-lcaf_$mpi" >compile.log 2>&1 || cat compile.log >&2
}
results() { grep -v UCX "$1"; } # MPICH's transport complains of itself
refuses='MPI_Win_[a-z_]* cannot be replayed yet' windows=yes
unset OMPI_MCA_btl_vader_single_copy_mechanism # Open MPI makes these windows only where memory of others can be reached directly
app() {
    local mpi
    for mpi in openmpi mpich; do try coarrays "$mpi" 3 ./shares; done
}
