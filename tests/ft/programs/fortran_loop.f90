! SPDX-License-Identifier: MIT
! A loop in Fortran whose MPI calls are in C.
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
