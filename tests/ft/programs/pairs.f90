! SPDX-License-Identifier: MIT
! Reductions of what Fortran has and C has not, or has otherwise: pairs of two reals, logical values, complex numbers; blocking and not. Every result is computed here as well.
module pairs_work
    use mpi
    use, intrinsic :: iso_c_binding
    implicit none
    integer(c_long), target :: total = 0
    integer :: rank, ranks, ierr
contains
    subroutine expect(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what
        if (condition) return
        print *, 'CHECK FAILED ', what, ' at rank ', rank
        call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
    end subroutine
    pure integer function value_of(who, n)
        integer, intent(in) :: who, n
        value_of = mod(who * 7 + n * 3, 11)
    end function
    integer function best(n, most) ! the lowest among equals
        integer, intent(in) :: n
        logical, intent(in) :: most
        integer :: k
        best = 0
        do k = 1, ranks - 1
            if (most .and. value_of(k, n) > value_of(best, n)) best = k
            if (.not. most .and. value_of(k, n) < value_of(best, n)) best = k
        end do
    end function
    subroutine reals(n)
        integer, intent(in) :: n
        real :: mine(2, 3), got(2, 3), heard(2)
        integer :: k, request, status(MPI_STATUS_SIZE)
        do k = 1, 3
            mine(:, k) = [real(value_of(rank, n + k)), real(rank)]
        end do
        call MPI_Allreduce(mine, got, 3, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
        do k = 1, 3
            call expect(nint(got(2, k)) == best(n + k, .true.), '2real maxloc, place')
            call expect(nint(got(1, k)) == value_of(best(n + k, .true.), n + k), '2real maxloc, value')
        end do
        call MPI_Iallreduce(mine, got, 3, MPI_2REAL, MPI_MINLOC, MPI_COMM_WORLD, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call expect(nint(got(2, 3)) == best(n + 3, .false.), '2real minloc')
        call MPI_Sendrecv(mine, 1, MPI_2REAL, mod(rank + 1, ranks), 3, heard, 1, MPI_2REAL, &
                          mod(rank + ranks - 1, ranks), 3, MPI_COMM_WORLD, status, ierr)
        call MPI_Get_count(status, MPI_2REAL, k, ierr)
        call expect(k == 1 .and. nint(heard(2)) == mod(rank + ranks - 1, ranks), '2real sent')
        total = total * 3 + nint(got(2, 1))
    end subroutine
    subroutine doubles(n)
        integer, intent(in) :: n
        double precision :: mine(2), got(2)
        integer :: place(2), found(2)
        mine = [dble(value_of(rank, n)), dble(rank)]
        call MPI_Reduce(mine, got, 1, MPI_2DOUBLE_PRECISION, MPI_MINLOC, ranks - 1, MPI_COMM_WORLD, ierr)
        if (rank == ranks - 1) call expect(nint(got(2)) == best(n, .false.), '2double minloc')
        call MPI_Scan(mine, got, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
        if (rank == ranks - 1) call expect(nint(got(2)) == best(n, .true.), '2double scan')
        place = [value_of(rank, n), rank]
        call MPI_Allreduce(place, found, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, ierr)
        call expect(found(2) == best(n, .false.), '2integer minloc')
        total = total * 3 + found(2)
    end subroutine
    subroutine others(n)
        integer, intent(in) :: n
        logical :: flag, got, every, some, odd
        complex :: small, sum_small
        complex(kind(1d0)) :: z, product, all
        integer(8) :: long, longs
        integer :: k
        flag = mod(value_of(rank, n), 2) == 0
        every = .true.
        some = .false.
        odd = .false.
        product = 1
        do k = 0, ranks - 1
            every = every .and. mod(value_of(k, n), 2) == 0
            some = some .or. mod(value_of(k, n), 2) == 0
            odd = odd .neqv. mod(value_of(k, n), 2) == 0
            product = product * cmplx(mod(k, 2), 1, kind(1d0))
        end do
        call MPI_Allreduce(flag, got, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
        call expect(got .eqv. every, 'land')
        call MPI_Allreduce(flag, got, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
        call expect(got .eqv. some, 'lor')
        call MPI_Allreduce(flag, got, 1, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD, ierr)
        call expect(got .eqv. odd, 'lxor')
        small = cmplx(rank, n)
        call MPI_Allreduce(small, sum_small, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
        call expect(sum_small == cmplx(ranks * (ranks - 1) / 2, ranks * n), 'complex sum')
        z = cmplx(mod(rank, 2), 1, kind(1d0))
        call MPI_Allreduce(z, all, 1, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, ierr)
        call expect(all == product, 'complex product')
        long = 2_8**40 + rank
        call MPI_Allreduce(long, longs, 1, MPI_INTEGER8, MPI_MAX, MPI_COMM_WORLD, ierr)
        call expect(longs == 2_8**40 + ranks - 1, 'integer8')
        total = total * 3 + merge(1, 0, odd)
    end subroutine
    function iteration(i, data) bind(C) result(goes_on)
        integer(c_long), value :: i
        type(c_ptr), value :: data
        integer(c_int) :: goes_on
        call reals(int(i))
        call doubles(int(i))
        call others(int(i))
        total = mod(total, 1000000007_c_long)
        goes_on = 1
    end function
end module
program pairs
    use pairs_work
    use reprise
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call reprise_protect(0, c_loc(total), 8_c_size_t)
    call reprise_loop(0_c_long, 29_c_long, iteration)
    if (rank == 0) print '(a,i12)', 'RESULT', total
    call MPI_Finalize(ierr)
end program
