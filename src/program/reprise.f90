! SPDX-License-Identifier: MIT
! The functions of reprise.h for Fortran. The loop is a function that is called for every iteration and returns 0 to end it; its data are the program's module variables.
!
!     call reprise_protect(0, c_loc(u), int(size(u), c_size_t) * 8)
!     call reprise_loop(0_c_long, steps, iteration)
module reprise
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: reprise_active, reprise_protect, reprise_unprotect
    public :: reprise_interval, reprise_capacity, reprise_capacity_iterations, reprise_loop

    abstract interface
        function reprise_iteration(i, data) bind(C)
            import :: c_int, c_long, c_ptr
            integer(c_long), value :: i
            type(c_ptr), value :: data
            integer(c_int) :: reprise_iteration
        end function
    end interface

    interface
        function reprise_active() bind(C)
            import :: c_int
            integer(c_int) :: reprise_active
        end function
        subroutine reprise_protect(id, memory, bytes) bind(C)
            import :: c_int, c_ptr, c_size_t
            integer(c_int), value :: id
            type(c_ptr), value :: memory
            integer(c_size_t), value :: bytes
        end subroutine
        subroutine reprise_unprotect(id) bind(C)
            import :: c_int
            integer(c_int), value :: id
        end subroutine
        subroutine reprise_interval(iterations) bind(C)
            import :: c_long
            integer(c_long), value :: iterations
        end subroutine
        subroutine reprise_capacity(bytes) bind(C)
            import :: c_size_t
            integer(c_size_t), value :: bytes
        end subroutine
        subroutine reprise_capacity_iterations(iterations) bind(C)
            import :: c_long
            integer(c_long), value :: iterations
        end subroutine
        subroutine run(first, end, iteration, data) bind(C, name='reprise_run')
            import :: c_long, c_funptr, c_ptr
            integer(c_long), value :: first, end
            type(c_funptr), value :: iteration
            type(c_ptr), value :: data
        end subroutine
    end interface

contains

    ! do i = first, last
    subroutine reprise_loop(first, last, iteration)
        integer(c_long), intent(in) :: first, last
        procedure(reprise_iteration) :: iteration
        call run(first, last + 1, c_funloc(iteration), c_null_ptr)
    end subroutine
end module
