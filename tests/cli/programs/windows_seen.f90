! SPDX-License-Identifier: MIT
! A window in Fortran; MODULE and WINDOW are replaced before it is compiled.
program seen
    use MODULE
    integer :: ierror, rank
    integer(kind=MPI_ADDRESS_KIND) :: bytes
    integer, volatile :: shared(2), got(2)
    WINDOW :: win
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    shared = rank
    got = -1
    bytes = 8
    call MPI_Win_create(shared, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    bytes = 0
    call MPI_Get(got, 2, MPI_INTEGER, 1 - rank, bytes, 2, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    print *, 'rank', rank, 'got', got(2)
    call MPI_Win_free(win, ierror)
    call MPI_Finalize(ierror)
end program
