# SPDX-License-Identifier: MIT
# Generalized requests among receives from anyone: who runs again makes them again, and its calls answer the same; cancelled, freed, and completed by a thread. A test that comes too early in the second life is refused.
source "$(dirname "$0")/../lib/ft.sh"
mpicc.openmpi -O1 -g -Wall -I "$(dirname "$tools")/include" "$programs/generalized.c" -o generalized "$build/lib/libreprise.a" -lpthread || fail "cannot compile"
expect reference 4 --interval 8 -- ./generalized
run 60 native env LD_LIBRARY_PATH="$REPRISE_ULFM/lib" "$REPRISE_ULFM/bin/mpirun" --oversubscribe -n 4 ./generalized
[ "$(result native)" = "$expected" ] || fail "without failures: $expected, without reprise: $(result native)"
for round in $(seq "${TEST_ROUNDS:-1}"); do
    for kill in 0@9:6 1@12:14 2@15:10 3@10:8; do
        survive "kill-$kill" 1 4 --interval 8 --kill "$kill" -- ./generalized
    done
    survive twice 2 4 --interval 8 --spares 2 --kill 0@12:7,3@15:2 -- ./generalized
    survive all-back 2 4 --interval 8 --spares 2 --capacity 1 --kill 1@13:6,2@22:3 -- ./generalized
    grep -q 'all ranks go back' all-back.err || fail "the log cannot have been long enough"
done

run 60 late "$reprise" ft --interval 5 --kill 1@7:1 mpirun -n 2 ./generalized slow
[ "$status" -eq 123 ] && grep -q 'MPI_Test cannot be repeated: a generalized request' late.err || fail "completed later by a thread: exit status $status"

command -v gfortran >/dev/null || exit 0
gfortran -c "$(dirname "$tools")/src/program/reprise.f90" || fail "cannot compile the module"
mpif90.openmpi "$programs/generalized.f90" reprise.o -o in-fortran "$build/lib/libreprise.a" || fail "cannot compile in Fortran"
expect in-fortran 3 -- ./in-fortran
survive in-fortran-killed 1 3 --kill 1@15:6 -- ./in-fortran
