! SPDX-License-Identifier: MIT
! MPI_Isendrecv by `include 'mpif.h'`.
program old
    implicit none
    include 'mpif.h'
    include 'isendrecv_body.inc'
    integer :: requests(2), status(MPI_STATUS_SIZE)
    call mpi_init(ierror)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
    call mpi_comm_size(MPI_COMM_WORLD, size, ierror)
    total = 0
    do step = 1, steps
        do k = 1, 2
            mine(k) = rank
            call mpi_isendrecv(mine(k), 1, MPI_INTEGER, mod(rank + k, size), step, theirs(k), 1, MPI_INTEGER, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, requests(k), ierror)
        end do
        do k = 1, 2
            call mpi_waitany(2, requests, where, status, ierror)
            if (status(MPI_SOURCE) /= theirs(where)) call mpi_abort(MPI_COMM_WORLD, 4, ierror)
            total = mod(total * 31 + theirs(where) * 7 + where, 1000003)
        end do
    end do
    print '(A,2I9)', 'RESULT ', rank, total
    call mpi_finalize(ierror)
end program
