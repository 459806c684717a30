! SPDX-License-Identifier: MIT
! MPI_Isendrecv and MPI_Isendrecv_replace by `use mpi_f08`.
program new
    use mpi_f08
    implicit none
    include 'isendrecv_body.inc'
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status, statuses(2)
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    total = 0
    do step = 1, steps
        mine = rank
        theirs = rank
        call MPI_Isendrecv(mine(1), 1, MPI_INTEGER, mod(rank + 1, size), step, theirs(1), 1, MPI_INTEGER, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, requests(1))
        call MPI_Isendrecv_replace(theirs(2), 1, MPI_INTEGER, mod(rank + 2, size), step, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, requests(2))
        if (mod(step, 2) == 0) then
            call MPI_Waitall(2, requests, statuses)
            do k = 1, 2
                if (statuses(k)%MPI_SOURCE /= theirs(k)) call MPI_Abort(MPI_COMM_WORLD, 4)
                total = mod(total * 31 + theirs(k) * 7 + k, 1000003)
            end do
        else
            do k = 1, 2
                call MPI_Wait(requests(k), status)
                if (status%MPI_SOURCE /= theirs(k)) call MPI_Abort(MPI_COMM_WORLD, 4)
                total = mod(total * 31 + theirs(k) * 7 + k, 1000003)
            end do
        end if
    end do
    print '(A,2I9)', 'RESULT ', rank, total
    call MPI_Finalize()
end program
