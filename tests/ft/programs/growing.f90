! SPDX-License-Identifier: MIT
! By `include 'mpif.h'`: a list that grows in every iteration, protected by functions. RESULT is the sum of all that was ever put into it. Its argument: how many iterations the log reaches back.
module growing_work
    use, intrinsic :: iso_c_binding
    implicit none
    include 'mpif.h'
    real(c_double), allocatable :: list(:)
    integer :: rank, ranks, error
contains
    function bytes_of_list(data) bind(C) result(bytes)
        type(c_ptr), value :: data
        integer(c_size_t) :: bytes
        integer(c_int), pointer :: mark
        call c_f_pointer(data, mark)
        if (mark /= 4711) call MPI_Abort(MPI_COMM_WORLD, 3, error)
        bytes = 8_c_size_t * size(list)
    end function
    subroutine save_list(data, out) bind(C)
        type(c_ptr), value :: data, out
        real(c_double), pointer :: to(:)
        call c_f_pointer(out, to, [size(list)])
        to = list
    end subroutine
    subroutine restore_list(data, in, bytes) bind(C)
        type(c_ptr), value :: data, in
        integer(c_size_t), value :: bytes
        real(c_double), pointer :: from(:)
        call c_f_pointer(in, from, [bytes / 8])
        list = from
    end subroutine
    function iteration(i, data) bind(C) result(goes_on)
        integer(c_long), value :: i
        type(c_ptr), value :: data
        integer(c_int) :: goes_on
        integer :: requests(2), statuses(MPI_STATUS_SIZE, 2)
        double precision :: mine, heard, total
        mine = sqrt(dble(i + rank)) + list(size(list))
        call MPI_Irecv(heard, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, requests(1), error)
        call MPI_Isend(mine, 1, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 7, MPI_COMM_WORLD, requests(2), error)
        call MPI_Waitall(2, requests, statuses, error)
        if (statuses(MPI_SOURCE, 1) /= mod(rank + ranks - 1, ranks)) call MPI_Abort(MPI_COMM_WORLD, 3, error)
        call MPI_Allreduce(heard, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
        list = [list, heard, total / ranks]
        goes_on = 1
    end function
end module
program growing
    use growing_work
    use reprise
    integer(c_int), target :: mark = 4711
    integer(c_long) :: reach
    character(len=16) :: word
    double precision :: total, all
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    call get_command_argument(1, word)
    read (word, *) reach
    call reprise_capacity_iterations(reach)
    list = [0d0]
    call reprise_protect_state(0, bytes_of_list, save_list, restore_list, c_loc(mark))
    call reprise_loop(0_c_long, 39_c_long, iteration)
    total = sum(list)
    call MPI_Reduce(total, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
    if (rank == 0) print '(a,es24.16,i6)', 'RESULT', all, size(list)
    call MPI_Finalize(error)
end program
