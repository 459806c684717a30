# SPDX-License-Identifier: MIT
# A loop in Fortran, by the module: MPI is called through its C functions, by `use mpi`, by `include 'mpif.h'`, and by `use mpi_f08`. The MPI with ULFM that we make has no Fortran: the bindings are those of Open MPI 4. What these cannot do with it is refused.
source "$(dirname "$0")/../lib/ft.sh"
cat >loop.f90 <<'END'
module work
    use, intrinsic :: iso_c_binding
    implicit none
    real(c_double), target :: total = 0
    interface
        subroutine add_up(value, sum) bind(C)
            import :: c_double
            real(c_double), value :: value
            real(c_double) :: sum
        end subroutine
    end interface
contains
    function iteration(i, data) bind(C) result(goes_on)
        integer(c_long), value :: i
        type(c_ptr), value :: data
        integer(c_int) :: goes_on
        real(c_double) :: sum
        call add_up(sqrt(real(i, c_double)), sum)
        total = total + sum
        goes_on = merge(0, 1, i == 29)
    end function
end module
subroutine run_loop(result) bind(C)
    use work
    use reprise
    real(c_double) :: result
    call reprise_protect(0, c_loc(total), 8_c_size_t)
    call reprise_loop(1_c_long, 100_c_long, iteration)
    result = total
end subroutine
END
cat >main.c <<'END'
#include <mpi.h>
#include <stdio.h>
void run_loop(double *result);
void add_up(double value, double *sum);
void add_up(double value, double *sum)
{
    MPI_Allreduce(&value, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
    double result;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    run_loop(&result);
    if (rank == 0)
        printf("RESULT %.17g\n", result);
    MPI_Finalize();
    return 0;
}
END
command -v gfortran >/dev/null || { echo "skipped: there is no gfortran"; exit 77; }
gfortran -I "$build/include" -c loop.f90 || fail "cannot compile with the module of the build"
mpicc.openmpi main.c loop.o -o loop -L "$build/lib" -lreprise -lgfortran -lm || fail "cannot link with the module's object in the library"
mkdir by-hand # where there was no Fortran compiler for the library
(cd by-hand && gfortran -c "$(dirname "$tools")/src/program/reprise.f90" ../loop.f90) || fail "cannot compile the module"
mpicc.openmpi main.c by-hand/loop.o by-hand/reprise.o -o by-hand/loop "$build/lib/libreprise.a" -lgfortran -lm || fail "cannot link with the module's object by hand"
mpicc.openmpi -I "$(dirname "$tools")/include" "$(dirname "$tools")/tests/ft/programs/shared.c" -o in-c "$build/lib/libreprise.a" || fail "a C program needs Fortran"
ldd in-c | grep -q libgfortran && fail "a C program is linked with Fortran"
expect loop-by-hand 3 -- ./by-hand/loop
expect loop 3 -- ./loop
survive killed 1 3 --kill 1@17:1 -- ./loop
survive all-back 1 3 --capacity 500 --kill 2@18:1 -- ./loop
grep -q 'all ranks go back' all-back.err || fail "the log cannot have been long enough"

mpif90.openmpi "$(dirname "$tools")/tests/ft/programs/bindings.f90" -I "$build/include" -o bindings "$build/lib/libreprise.a" || fail "cannot compile with 'use mpi'"
expect bindings 4 -- ./bindings
survive bindings-killed 1 4 --kill 1@17:40 -- ./bindings
survive bindings-twice 2 4 --spares 2 --kill 2@18:60,0@35:70 -- ./bindings
survive bindings-setup 1 4 --kill 3@setup:8 -- ./bindings
survive bindings-back 1 4 --capacity 500 --kill 2@28:30 -- ./bindings
grep -q 'all ranks go back' bindings-back.err || fail "bindings: the log cannot have been long enough"
mpif90.openmpi "$(dirname "$tools")/tests/ft/programs/growing.f90" -I "$build/include" -o growing "$build/lib/libreprise.a" || fail "cannot compile with mpif.h"
expect growing 3 -- ./growing 0
run 60 growing-plain mpirun.openmpi -n 3 ./growing 0
[ "$status" -eq 0 ] && [ -n "$(result growing-plain)" ] || fail "growing does not run without reprise: exit status $status"
survive growing-killed 1 3 --kill 1@17:3 -- ./growing 0
survive growing-twice 2 3 --spares 2 --kill 0@8:2,2@33:4 -- ./growing 0
survive growing-early 1 3 --kill 1@12:3 -- ./growing 4
grep -q 'only what died' growing-early.err || fail "growing: all ranks went back though the log reached back"
survive growing-late 1 3 --kill 1@17:3 -- ./growing 4
grep -q 'all ranks go back' growing-late.err || fail "growing: the log does not reach back so far"
cat >modern.f90 <<'END'
module modern_work
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    real(c_double), target :: total = 0
    integer :: rank, ranks
contains
    function iteration(i, data) bind(C) result(goes_on)
        integer(c_long), value :: i
        type(c_ptr), value :: data
        integer(c_int) :: goes_on
        type(MPI_Request) :: requests(3)
        type(MPI_Status) :: statuses(3)
        real(c_double) :: value, sum, heard
        value = sqrt(real(i + rank, c_double))
        call MPI_Irecv(heard, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests(1))
        call MPI_Isend(value, 1, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1, MPI_COMM_WORLD, requests(2))
        call MPI_Iallreduce(value, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, requests(3))
        call MPI_Waitall(3, requests, statuses)
        if (statuses(1)%MPI_SOURCE /= mod(rank + ranks - 1, ranks)) call MPI_Abort(MPI_COMM_WORLD, 3)
        total = total + sum + heard
        goes_on = 1
    end function
end module
program modern
    use modern_work
    use reprise
    integer(kind=MPI_ADDRESS_KIND) :: bound
    logical :: flag
    integer :: counts(8) = 1, displs(8) = 0
    type(MPI_Datatype) :: types(8)
    character(len=16) :: word
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, bound, flag)
    if (.not. flag .or. bound < 32767) call MPI_Abort(MPI_COMM_WORLD, 3)
    call get_command_argument(1, word)
    types = MPI_INTEGER
    if (word == 'refused') call MPI_Alltoallw(MPI_IN_PLACE, counts, displs, types, counts, counts, displs, types, MPI_COMM_WORLD)
    call reprise_protect(0, c_loc(total), 8_c_size_t)
    call reprise_loop(1_c_long, 40_c_long, iteration)
    if (rank == 0) print '(a,es24.16)', 'RESULT', total
    call MPI_Finalize()
end program
END
mpif90.openmpi modern.f90 -I "$build/include" -o modern "$build/lib/libreprise.a" || fail "cannot compile with 'use mpi_f08'"
expect modern 3 -- ./modern
survive modern-killed 1 3 --kill 1@17:9 -- ./modern
run 60 modern-refused "$reprise" ft mpirun -n 3 ./modern refused
[ "$status" -eq 123 ] && grep -q 'MPI_Alltoallw of Fortran is not supported' modern-refused.err || fail "MPI_Alltoallw of Fortran: exit status $status"

cat >in_c.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    int one = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&one, &sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum == 2 ? 0 : 9;
}
END
mpicc.openmpi in_c.c -o in_c || fail "cannot compile"
run 60 in_c "$reprise" ft mpirun -n 2 ./in_c # an MPI that was built with Fortran knows it
[ "$status" -eq 0 ] || { [ "$status" -eq 123 ] && grep -q 'does not know the datatype MPI_INTEGER' in_c.err; } || fail "MPI_INTEGER in C: exit status $status"
