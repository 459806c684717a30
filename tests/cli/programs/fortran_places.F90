! SPDX-License-Identifier: MIT
! Two receives in two lines; MODULE is that of MPI.
program two
  use MODULE
  integer :: rank, e, k, v
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  do k = 1, 3
    if (rank > 0) then
      call MPI_Send(k, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, e)
      call MPI_Send(k, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, e)
    else
      call MPI_Recv(v, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e) ! first
      call MPI_Recv(v, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e) ! second
    end if
  end do
  call MPI_Finalize(e)
end program
