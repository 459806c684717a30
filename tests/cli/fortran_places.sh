# SPDX-License-Identifier: MIT
# Calls from different lines of a Fortran subroutine are different places, though the bindings call MPI from one.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
command -v "mpif90.$mpi" >/dev/null || { echo "skipped: no mpif90.$mpi"; exit 77; }
launcher "$mpi" 2
for module in mpi mpi_f08; do
    cat >two.f90 <<END
program two
  use $module
  integer :: rank, e, k, v
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  do k = 1, 3
    if (rank > 0) then
      call MPI_Send(k, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, e)
      call MPI_Send(k, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, e)
    else
      call MPI_Recv(v, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
      call MPI_Recv(v, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
    end if
  end do
  call MPI_Finalize(e)
end program
END
    "mpif90.$mpi" -g -o two two.f90 >compile.out 2>&1 || fail "it does not compile"
    rm -rf run
    run 60 record "$reprise" record -o run "${launch[@]}" ./two
    [ "$status" -eq 0 ] || fail "record: exit status $status"
    "$reprise" dump run >dump.out 2>dump.err || fail "dump"
    [ "$(sed -n 's/.* site=\([0-9]*\) .*/\1/p' dump.out | tr '\n' ' ')" = "0 1 0 1 0 1 " ] || fail "sites"
    [ "$(sed -n 's/.*two.f90:\([0-9]*\)$/\1/p' dump.out | tr '\n' ' ')" = "11 12 11 12 11 12 " ] || fail "lines"
    "$reprise" dump --sites run >sites.out 2>sites.err || fail "dump --sites"
    ! grep -E 'libmpi_mpifh|libmpi_usempi|libmpichfort' sites.out || fail "frames of bindings"
    run 60 replay "$reprise" replay run
    [ "$status" -eq 0 ] || fail "replay: exit status $status"
done
