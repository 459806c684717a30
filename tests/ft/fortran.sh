# SPDX-License-Identifier: MIT
# A loop in Fortran, by the module: MPI is called through its C functions, by `use mpi`, by `include 'mpif.h'`, and by `use mpi_f08`. The MPI with ULFM that we make has no Fortran: the bindings are those of Open MPI 4. What these cannot do with it is refused.
source "$(dirname "$0")/../lib/ft.sh"
command -v gfortran >/dev/null || { echo "skipped: there is no gfortran"; exit 77; }
gfortran -I "$build/include" -c "$programs/fortran_loop.f90" -o loop.o || fail "cannot compile with the module of the build"
mpicc.openmpi "$programs/fortran_main.c" loop.o -o loop -L "$build/lib" -lreprise -lgfortran -lm || fail "cannot link with the module's object in the library"
mkdir by-hand # where there was no Fortran compiler for the library
(cd by-hand && gfortran -c "$(dirname "$tools")/src/program/reprise.f90" "$programs/fortran_loop.f90") || fail "cannot compile the module"
mpicc.openmpi "$programs/fortran_main.c" by-hand/fortran_loop.o by-hand/reprise.o -o by-hand/loop "$build/lib/libreprise.a" -lgfortran -lm || fail "cannot link with the module's object by hand"
mpicc.openmpi -I "$(dirname "$tools")/include" "$programs/shared.c" -o in-c "$build/lib/libreprise.a" || fail "a C program needs Fortran"
ldd in-c | grep -q libgfortran && fail "a C program is linked with Fortran"
expect loop-by-hand 3 -- ./by-hand/loop
expect loop 3 -- ./loop
survive killed 1 3 --kill 1@17:1 -- ./loop
survive all-back 1 3 --capacity 500 --kill 2@18:1 -- ./loop
grep -q 'all ranks go back' all-back.err || fail "the log cannot have been long enough"

mpif90.openmpi "$programs/bindings.f90" -I "$build/include" -o bindings "$build/lib/libreprise.a" || fail "cannot compile with 'use mpi'"
expect bindings 4 -- ./bindings
survive bindings-killed 1 4 --kill 1@17:40 -- ./bindings
survive bindings-twice 2 4 --spares 2 --kill 2@18:60,0@35:70 -- ./bindings
survive bindings-setup 1 4 --kill 3@setup:8 -- ./bindings
survive bindings-back 1 4 --capacity 500 --kill 2@28:30 -- ./bindings
grep -q 'all ranks go back' bindings-back.err || fail "bindings: the log cannot have been long enough"
mpif90.openmpi "$programs/growing.f90" -I "$build/include" -o growing "$build/lib/libreprise.a" || fail "cannot compile with mpif.h"
expect growing 3 -- ./growing 0
run 60 growing-plain mpirun.openmpi -n 3 ./growing 0
[ "$status" -eq 0 ] && [ -n "$(result growing-plain)" ] || fail "growing does not run without reprise: exit status $status"
survive growing-killed 1 3 --kill 1@17:3 -- ./growing 0
survive growing-twice 2 3 --spares 2 --kill 0@8:2,2@33:4 -- ./growing 0
survive growing-early 1 3 --kill 1@12:3 -- ./growing 4
grep -q 'only what died' growing-early.err || fail "growing: all ranks went back though the log reached back"
survive growing-late 1 3 --kill 1@17:3 -- ./growing 4
grep -q 'all ranks go back' growing-late.err || fail "growing: the log does not reach back so far"
mpif90.openmpi "$programs/fortran_modern.f90" -I "$build/include" -o modern "$build/lib/libreprise.a" || fail "cannot compile with 'use mpi_f08'"
expect modern 3 -- ./modern
survive modern-killed 1 3 --kill 1@17:9 -- ./modern
run 60 modern-refused "$reprise" ft mpirun -n 3 ./modern refused
[ "$status" -eq 123 ] && grep -q 'MPI_Alltoallw of Fortran is not supported' modern-refused.err ||
    [ "${openmpi_version%%.*}-$status-$(result modern-refused)" = "6-0-$(result modern)" ] || fail "MPI_Alltoallw of Fortran: exit status $status"

mpicc.openmpi "$programs/fortran_in_c.c" -o in_c || fail "cannot compile"
run 60 in_c "$reprise" ft mpirun -n 2 ./in_c # an MPI that was built with Fortran knows it
[ "$status" -eq 0 ] || { [ "$status" -eq 123 ] && grep -q 'does not know the datatype MPI_INTEGER' in_c.err; } || fail "MPI_INTEGER in C: exit status $status"
