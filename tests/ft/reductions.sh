# SPDX-License-Identifier: MIT
# Reductions of pairs, bits, logical and complex values, by operations of the program and on datatypes with gaps, in C and in Fortran: right, also where a rank died.
source "$(dirname "$0")/../lib/ft.sh"
mpicc.openmpi -O1 -I "$(dirname "$tools")/include" "$programs/reductions.c" -o reductions "$build/lib/libreprise.a" || fail "cannot compile"
expect reductions 4 --interval 4 -- ./reductions
survive killed 1 4 --interval 4 --kill 1@6:20 -- ./reductions
survive in-a-row 2 4 --interval 4 --spares 2 --kill 2@2:33,0@9:7 -- ./reductions
survive all-back 1 4 --interval 4 --capacity-iterations 1 --kill 3@7:28 -- ./reductions
grep -q 'all ranks go back' all-back.err || fail "all-back: the log does not reach back so far"
expect three 3 --interval 4 -- ./reductions
survive three-killed 1 3 --interval 4 --kill 2@6:36 -- ./reductions

gfortran -c "$(dirname "$tools")/src/program/reprise.f90" || fail "cannot compile the module"
mpif90.openmpi "$programs/pairs.f90" reprise.o -o pairs "$build/lib/libreprise.a" || fail "cannot compile in Fortran"
expect pairs 3 -- ./pairs
survive pairs-killed 1 3 --kill 1@15:6 -- ./pairs
survive pairs-back 1 3 --capacity-iterations 2 --kill 0@17:3 -- ./pairs
grep -q 'all ranks go back' pairs-back.err || fail "pairs-back: the log does not reach back so far"

mpicc.openmpi "$programs/reductions_unknown.c" -o unknown || fail "cannot compile"
run 60 unknown "$reprise" ft mpirun -n 2 ./unknown
[ "$status" -eq 123 ] && grep -q 'MPI_Allreduce: the MPI with ULFM does not know this operation for this datatype' unknown.err || fail "an operation that there is not: exit status $status"
