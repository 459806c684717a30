! SPDX-License-Identifier: MIT
! The functions of reprise.h for Fortran. libreprise.a contains this module's object where reprise was built with a Fortran compiler; else compile and link this file with the program. The loop is a function that is called for every iteration and returns 0 to end it; its data are the program's module variables.
!
!     call reprise_protect(0, c_loc(u), int(size(u), c_size_t) * 8)
!     call reprise_loop(0_c_long, steps, iteration)
!
! State that is not in one piece, or grows: functions that tell how long it is now, write it out and read it in again.
!
!     call reprise_protect_state(1, bytes_of_list, save_list, restore_list)
module reprise
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: reprise_active, reprise_protect, reprise_protect_state, reprise_unprotect
    public :: reprise_interval, reprise_capacity, reprise_capacity_iterations, reprise_loop

    abstract interface
        function reprise_iteration(i, data) bind(C)
            import :: c_int, c_long, c_ptr
            integer(c_long), value :: i
            type(c_ptr), value :: data
            integer(c_int) :: reprise_iteration
        end function
        function reprise_state_size(data) bind(C)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: data
            integer(c_size_t) :: reprise_state_size
        end function
        subroutine reprise_state_save(data, out) bind(C)
            import :: c_ptr
            type(c_ptr), value :: data, out
        end subroutine
        subroutine reprise_state_restore(data, in, bytes) bind(C)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: data, in
            integer(c_size_t), value :: bytes
        end subroutine
    end interface

    type, bind(C) :: callbacks
        type(c_funptr) :: size, save, restore
    end type

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
        subroutine protect_state(id, state, data) bind(C, name='reprise_protect_state')
            import :: c_int, c_ptr
            integer(c_int), value :: id
            type(c_ptr), value :: state, data
        end subroutine
        subroutine run(first, end, iteration, data) bind(C, name='reprise_run')
            import :: c_long, c_funptr, c_ptr
            integer(c_long), value :: first, end
            type(c_funptr), value :: iteration
            type(c_ptr), value :: data
        end subroutine
    end interface

contains

    ! `data` is passed on. What is kept of the functions stays for ever.
    subroutine reprise_protect_state(id, size, save, restore, data)
        integer(c_int), intent(in) :: id
        procedure(reprise_state_size) :: size
        procedure(reprise_state_save) :: save
        procedure(reprise_state_restore) :: restore
        type(c_ptr), intent(in), optional :: data
        type(callbacks), pointer :: state
        type(c_ptr) :: passed
        allocate(state)
        state = callbacks(c_funloc(size), c_funloc(save), c_funloc(restore))
        passed = c_null_ptr
        if (present(data)) passed = data
        call protect_state(id, c_loc(state), passed)
    end subroutine

    ! do i = first, last
    subroutine reprise_loop(first, last, iteration)
        integer(c_long), intent(in) :: first, last
        procedure(reprise_iteration) :: iteration
        call run(first, last + 1, c_funloc(iteration), c_null_ptr)
    end subroutine
end module
