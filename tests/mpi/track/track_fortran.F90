! SPDX-License-Identifier: MIT
! ranks: 2
! natively: 60
! timeout: 60
! about: Fortran: a token in a shared window that two ranks wait for without any call, and arrays of
!     real numbers that go with it
program track_fortran
  use mpi_f08
  use iso_c_binding
  use iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: words = 40, rounds = 60
  integer(int64), pointer, volatile :: flag(:)
  real(real64), pointer :: field(:)
  real(real64) :: own(words)
  integer(int64) :: hash, polls
  integer :: rank, round, unit, i
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  type(MPI_Win) :: win
  type(c_ptr) :: base

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  bytes = 0
  if (rank == 0) bytes = 8 * (words + 1)
  call MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call MPI_Win_shared_query(win, 0, bytes, unit, base)
  call c_f_pointer(base, flag, [words + 1])
  call c_f_pointer(base, field, [words + 1])
  call MPI_Win_lock_all(0, win)
  if (rank == 0) then
    field(2:) = 0
    flag(1) = 0
  end if
  call MPI_Barrier(MPI_COMM_WORLD)
  hash = rank
  own = 0.5_real64 + rank
  do round = 1, rounds
    polls = 0
    do while (mod(flag(1), 2_int64) /= rank)
      polls = polls + 1
    end do
    call take(field(2:), own)
    hash = ieor(hash * 31, polls) + flag(1)
    do i = 1, words
      hash = ieor(hash * 31, int(own(i), int64))
    end do
    field(2:) = own + 1
    flag(1) = flag(1) + 1
  end do
  call MPI_Barrier(MPI_COMM_WORLD)
  if (int(own(7)) == 0 .or. flag(1) /= 2 * rounds) call MPI_Abort(MPI_COMM_WORLD, 3)
  call MPI_Win_unlock_all(win)
  call MPI_Win_free(win)
  if (rank == 0) then
    print '(a,z16.16)', 'RESULT hash=', hash
  else
    print '(a,i0,a,z16.16)', 'rank ', rank, ': ', hash
  end if
  call MPI_Finalize()
contains
  subroutine take(from, to)
    real(real64), intent(in) :: from(:)
    real(real64), intent(inout) :: to(:)
    to = to + from
  end subroutine
end program
