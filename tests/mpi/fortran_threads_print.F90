! SPDX-License-Identifier: MIT
! ranks: 3
! native: differs
! flags: -fopenmp
! about: threads of a Fortran program, of which one prints as it likes: how many lines it writes, as
!     of a table of times, is not of the record
program fortran_threads_print
  use mpi
  use omp_lib
  implicit none
  integer :: rank, ranks, error, provided, i, got, status(MPI_STATUS_SIZE), lines, shared
  integer(8) :: hash
  character(len=20) :: order

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  shared = 0
  !$omp parallel num_threads(2)
  !$omp critical
  shared = shared + 1
  !$omp end critical
  !$omp end parallel
  call get_environment_variable('TEST_ORDER', order)
  lines = merge(10, 30, order == 'up')
  hash = shared
  call MPI_Barrier(MPI_COMM_WORLD, error)
  do i = 1, ranks - 1
    if (rank == 0) then
      call MPI_Recv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, status, error)
      hash = hash * 31 + got
    else if (rank == i) then
      call wait_for_turn()
      call MPI_Send(rank, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, error)
    end if
    call print_lines()
  end do
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, z16.16)', 'RESULT hash=', hash
  call MPI_Finalize(error)

contains

  subroutine print_lines()
    integer :: k

    open (unit=20, status='scratch')
    do k = 1, lines
      write (20, *) 'line', k
    end do
    close (20)
  end subroutine

  ! Up: the last comes last; else first.
  subroutine wait_for_turn()
    double precision :: until

    until = MPI_Wtime() + 0.5d0 * merge(rank, ranks - rank, order == 'up')
    do while (MPI_Wtime() < until)
    end do
  end subroutine
end program
