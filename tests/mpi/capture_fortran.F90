! SPDX-License-Identifier: MIT
! ranks: 2
! det: differs
! native: differs
! record: --capture all
! about: system_clock, date_and_time, cpu_time, random_seed and MPI_Wtime in Fortran
program capture_fortran
  use mpi
  implicit none
  integer :: rank, error, i, values(8)
  integer(8) :: count, hash, total
  real :: seconds
  double precision :: x(4), now

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call system_clock(count)
  hash = count
  call date_and_time(values=values)
  hash = hash * 31 + sum(values)
  call cpu_time(seconds)
  hash = hash * 31 + int(seconds * 1e6, 8)
  call random_seed()
  call random_number(x)
  do i = 1, 4
    hash = hash * 31 + int(x(i) * 1d15, 8)
  end do
  now = MPI_Wtime()
  hash = hash * 31 + int(now * 1d6, 8)
  call MPI_Reduce(hash, total, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) write (*, '(a, z16.16)') 'RESULT hash=', total
  call MPI_Finalize(error)
end program
