! SPDX-License-Identifier: MIT
! A loop by `use mpi_f08`; with "refused", a call that is refused.
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
