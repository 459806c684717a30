# SPDX-License-Identifier: MIT
# A loop in Fortran, by the module: MPI is called through its C functions here, since the MPI with ULFM that we make has no Fortran.
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
gfortran -c "$(dirname "$tools")/src/program/reprise.f90" loop.f90 || fail "cannot compile the module"
mpicc.openmpi main.c loop.o reprise.o -o loop "$build/lib/libreprise.a" -lgfortran -lm || fail "cannot link"
expect loop 3 -- ./loop
survive killed 1 3 --kill 1@17:1 -- ./loop
survive all-back 1 3 --capacity 500 --kill 2@18:1 -- ./loop
grep -q 'all ranks go back' all-back.err || fail "the log cannot have been long enough"
