! SPDX-License-Identifier: MIT
! Array expressions; tells the ticks that they take.
program waves
  use iso_c_binding
  implicit none
  interface
    function ticks_now() bind(c)
      import :: c_int64_t
      integer(c_int64_t) :: ticks_now
    end function
  end interface
  integer(c_int64_t) :: before
  integer :: n, i
  character(len=20) :: word
  real(8), allocatable :: a(:, :), b(:, :)
  call get_command_argument(1, word)
  read (word, *) n
  allocate (a(n, n), b(n, n))
  a = 1
  before = ticks_now()
  do i = 1, 3
    b(2:n-1, 2:n-1) = 0.25 * (a(1:n-2, 2:n-1) + a(3:n, 2:n-1) + a(2:n-1, 1:n-2) + a(2:n-1, 3:n))
    a = matmul(b, b) + cshift(a, 1)
  end do
  print '(a,i0)', 'fortran ', ticks_now() - before
  if (sum(a) < 0) stop 1
end program
