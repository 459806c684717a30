! SPDX-License-Identifier: MIT
! A loop whose MPI is that of `use mpi`: requests of all kinds and all calls that complete them, statuses, constants, datatypes and operations of Fortran, strings, an attribute. What comes is checked where it is known.
module work
    use mpi
    use, intrinsic :: iso_c_binding
    implicit none
    real(c_double), target :: total(4) = 0
    integer :: rank, ranks, pair_type, combined, half, persistent(2)
    double precision :: told, heard
contains
    subroutine both_and_product(in, inout, count, datatype)
        integer :: count, datatype, k
        double precision :: in(count), inout(count)
        do k = 1, count
            inout(k) = in(k) + inout(k) + in(k) * inout(k)
        end do
    end subroutine

    subroutine expect(holds, what)
        logical, intent(in) :: holds
        character(len=*), intent(in) :: what
        integer :: ierr
        if (.not. holds) then
            print *, 'CHECK FAILED', rank, what
            call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
        end if
    end subroutine

    function iteration(i, data) bind(C) result(goes_on)
        integer(c_long), value :: i
        type(c_ptr), value :: data
        integer(c_int) :: goes_on
        integer :: ierr, k, left, right, done, n, index, indices(4), requests(4), ones(4), all(4), place(2), best(2)
        integer :: statuses(MPI_STATUS_SIZE, 4), status(MPI_STATUS_SIZE)
        double precision :: x(4), y(4), far(2), near(2)
        complex(kind=kind(1.0d0)) :: z, sum
        logical :: flag, both

        left = mod(rank + ranks - 1, ranks)
        right = mod(rank + 1, ranks)
        n = int(i)
        x = rank + n + [0.1d0, 0.2d0, 0.3d0, 0.4d0]
        call MPI_Irecv(y(1), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1), ierr)
        call MPI_Irecv(y(2), 1, MPI_REAL8, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, requests(2), ierr)
        call MPI_Isend(x(1), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(3), ierr)
        call MPI_Issend(x(2), 1, MPI_REAL8, right, 2, MPI_COMM_WORLD, requests(4), ierr)
        select case (mod(n, 4))
        case (0)
            call MPI_Waitall(4, requests, statuses, ierr)
            call expect(statuses(MPI_SOURCE, 2) == left .and. statuses(MPI_TAG, 2) == 2, 'statuses')
        case (1)
            do k = 1, 4
                call MPI_Waitany(4, requests, index, status, ierr)
            end do
        case (2)
            done = 0
            do while (done < 4)
                call MPI_Testsome(4, requests, k, indices, MPI_STATUSES_IGNORE, ierr)
                done = done + k
            end do
        case default
            flag = .false.
            do while (.not. flag)
                call MPI_Testall(4, requests, flag, MPI_STATUSES_IGNORE, ierr)
            end do
        end select
        call expect(all_null(requests), 'requests are null')
        call expect(y(1) == left + n + 0.1d0 .and. y(2) == left + n + 0.2d0, 'messages')

        told = x(3)
        call MPI_Startall(2, persistent, ierr)
        call MPI_Wait(persistent(2), MPI_STATUS_IGNORE, ierr)
        call MPI_Waitall(1, persistent, MPI_STATUSES_IGNORE, ierr)
        call expect(heard == left + n + 0.3d0, 'persistent')

        call MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
        call MPI_Iallreduce(y, total, 0, MPI_DOUBLE_PRECISION, MPI_SUM, half, requests(1), ierr)
        call MPI_Ibcast(y, 2, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, requests(2), ierr)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        call MPI_Reduce(y, far, 2, MPI_DOUBLE_PRECISION, combined, 0, MPI_COMM_WORLD, ierr)
        call MPI_Bcast(far, 2, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
        near = [x(1), x(2)]
        call MPI_Sendrecv_replace(near, 1, pair_type, right, 5, left, 5, MPI_COMM_WORLD, status, ierr)
        call MPI_Get_count(status, pair_type, k, ierr)
        call expect(k == 1, 'count')
        flag = mod(rank, 2) == 0
        call MPI_Allreduce(flag, both, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
        call expect(both, 'logical')
        z = cmplx(rank, n, kind(1.0d0))
        call MPI_Allreduce(z, sum, 1, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
        call expect(sum == cmplx(ranks * (ranks - 1) / 2, ranks * n, kind(1.0d0)), 'complex')
        place = [mod(rank * 7 + n, ranks), rank]
        call MPI_Allreduce(place, best, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
        call expect(best(1) == ranks - 1, 'maxloc')
        ones = rank
        call MPI_Allgather(ones, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call expect(all(ranks) == ranks - 1, 'allgather')
        total = total + x + far(1) + near(2) * 0.001d0 + best(2)
        goes_on = 1
    end function

    logical function all_null(requests)
        integer, intent(in) :: requests(:)
        integer :: k
        all_null = .true.
        do k = 1, size(requests)
            all_null = all_null .and. requests(k) == MPI_REQUEST_NULL
        end do
    end function
end module

program full
    use work
    use reprise
    integer :: ierr, length, group, other, numbers(1)
    integer(kind=MPI_ADDRESS_KIND) :: bound
    logical :: flag
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call MPI_Get_processor_name(name, length, ierr)
    call expect(length > 0 .and. len_trim(name) == length, 'name')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, bound, flag, ierr)
    call expect(flag .and. bound >= 32767, 'attribute')
    call MPI_Comm_group(MPI_COMM_WORLD, group, ierr)
    numbers(1) = 0
    call MPI_Group_incl(group, 1, numbers, other, ierr)
    call MPI_Group_size(other, length, ierr)
    call expect(length == 1, 'group')
    call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, pair_type, ierr)
    call MPI_Type_commit(pair_type, ierr)
    call MPI_Op_create(both_and_product, .false., combined, ierr)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
    call MPI_Send_init(told, 1, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 9, MPI_COMM_WORLD, persistent(1), ierr)
    call MPI_Recv_init(heard, 1, MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 9, MPI_COMM_WORLD, &
        persistent(2), ierr)
    call reprise_protect(0, c_loc(total), 32_c_size_t)
    call reprise_loop(1_c_long, 40_c_long, iteration)
    if (rank == 0) print '(a,4es24.16)', 'RESULT', total
    call MPI_Request_free(persistent(1), ierr)
    call MPI_Request_free(persistent(2), ierr)
    call MPI_Finalize(ierr)
end program
