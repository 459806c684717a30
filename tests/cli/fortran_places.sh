# SPDX-License-Identifier: MIT
# Calls from different lines of a Fortran subroutine are different places, though the bindings call MPI from one.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
command -v "mpif90.$mpi" >/dev/null || { echo "skipped: no mpif90.$mpi"; exit 77; }
launcher "$mpi" 2
source=$programs/fortran_places.F90
lines="$(grep -n '! first$' "$source" | cut -d: -f1) $(grep -n '! second$' "$source" | cut -d: -f1) "
for module in mpi mpi_f08; do
    "mpif90.$mpi" -g "-DMODULE=$module" -o two "$source" >compile.out 2>&1 || fail "it does not compile"
    rm -rf run
    run 60 record "$reprise" record -o run "${launch[@]}" ./two
    [ "$status" -eq 0 ] || fail "record: exit status $status"
    "$reprise" dump run >dump.out 2>dump.err || fail "dump"
    [ "$(sed -n 's/.* site=\([0-9]*\) .*/\1/p' dump.out | tr '\n' ' ')" = "0 1 0 1 0 1 " ] || fail "sites"
    [ "$(sed -n 's/.*fortran_places.F90:\([0-9]*\)$/\1/p' dump.out | tr '\n' ' ')" = "$lines$lines$lines" ] || fail "lines"
    "$reprise" dump --sites run >sites.out 2>sites.err || fail "dump --sites"
    ! grep -E 'libmpi_mpifh|libmpi_usempi|libmpichfort' sites.out || fail "frames of bindings"
    run 60 replay "$reprise" replay run
    [ "$status" -eq 0 ] || fail "replay: exit status $status"
done
