! SPDX-License-Identifier: MIT
! Generalized requests of Fortran: each rank completes its own behind a message, and looks at what its functions were given.
module generalized_work
    use mpi
    use, intrinsic :: iso_c_binding
    implicit none
    integer(c_long), target :: total = 0
    integer :: rank, ranks, ierr, calls(3)
contains
    subroutine expect(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what
        if (condition) return
        print *, 'CHECK FAILED ', what, ' at rank ', rank
        call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
    end subroutine
    subroutine query(extra, status, error)
        integer(kind=MPI_ADDRESS_KIND) :: extra
        integer :: status(MPI_STATUS_SIZE), error, ignored
        calls(1) = calls(1) + 1
        status(MPI_SOURCE) = int(extra)
        status(MPI_TAG) = 55
        call MPI_Status_set_elements(status, MPI_INTEGER, 3, ignored)
        call MPI_Status_set_cancelled(status, calls(3) > 0, ignored)
        error = MPI_SUCCESS
    end subroutine
    subroutine release(extra, error)
        integer(kind=MPI_ADDRESS_KIND) :: extra
        integer :: error
        calls(2) = calls(2) + int(extra)
        error = MPI_SUCCESS
    end subroutine
    subroutine cancel(extra, complete, error)
        integer(kind=MPI_ADDRESS_KIND) :: extra
        logical :: complete
        integer :: error
        call expect(.not. complete, 'complete')
        calls(3) = calls(3) + int(extra)
        error = MPI_SUCCESS
    end subroutine
    function iteration(i, data) bind(C) result(goes_on)
        integer(c_long), value :: i
        type(c_ptr), value :: data
        integer(c_int) :: goes_on
        integer(kind=MPI_ADDRESS_KIND) :: extra
        integer :: requests(2), status(MPI_STATUS_SIZE), heard, next, place, k, count
        logical :: flag
        calls = 0
        extra = i + 7
        next = mod(rank + 1, ranks)
        call MPI_Irecv(heard, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests(1), ierr)
        call MPI_Grequest_start(query, release, cancel, extra, requests(2), ierr)
        call MPI_Send(int(i) + rank, 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD, ierr)
        do k = 1, 2
            call MPI_Waitany(2, requests, place, status, ierr)
            if (place == 1) then
                if (mod(i, 2_c_long) == 0) call MPI_Cancel(requests(2), ierr)
                call MPI_Grequest_complete(requests(2), ierr)
            else
                call MPI_Get_count(status, MPI_INTEGER, count, ierr)
                call MPI_Test_cancelled(status, flag, ierr)
                call expect(status(MPI_SOURCE) == extra .and. status(MPI_TAG) == 55 .and. count == 3, 'status')
                call expect(flag .eqv. mod(i, 2_c_long) == 0, 'cancelled')
            end if
        end do
        call expect(calls(1) == 1 .and. calls(2) == extra .and. requests(2) == MPI_REQUEST_NULL, 'calls')
        total = mod(total * 3 + heard + calls(2), 1000000007_c_long)
        goes_on = 1
    end function
end module
program generalized
    use generalized_work
    use reprise
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call reprise_protect(0, c_loc(total), 8_c_size_t)
    call reprise_loop(0_c_long, 29_c_long, iteration)
    if (rank == 0) print '(a,i12)', 'RESULT', total
    call MPI_Finalize(ierr)
end program
