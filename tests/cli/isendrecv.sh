# SPDX-License-Identifier: MIT
# MPI_Isendrecv from anyone, wherever it is called from: Fortran, a library that the program is linked with, one that it loads, the second program of a command; under stress, and where the order of receives is shuffled. Programs that do not call it
# have nothing in front of their calls.
include=$(cd "$(dirname "$0")/../../include" && pwd)
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
[ "$mpi" = mpich ] || { echo "skipped: for mpich only"; exit 77; }
launcher "$mpi" 3
cat >library.c <<'END'
#include <mpi.h>
long exchange(int rank, int size)
{
    long mine[2] = {rank, rank}, theirs[2], sum = 0;
    MPI_Request requests[2];
    MPI_Status status;
    int index;
    for (int step = 0; step < 5; step++) {
        for (int k = 0; k < 2; k++)
            MPI_Isendrecv(&mine[k], 1, MPI_LONG, (rank + k + 1) % size, step, &theirs[k], 1, MPI_LONG, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &requests[k]);
        while (MPI_Waitany(2, requests, &index, &status), index != MPI_UNDEFINED)
            sum = sum * 31 + theirs[index] * 7 + (status.MPI_SOURCE == theirs[index] ? status.MPI_SOURCE : 1000) + index;
    }
    return sum;
}
END
cat >main.c <<'END'
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
long exchange(int rank, int size);
int main(int argc, char **argv)
{
    int rank, size;
    long sum, all[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifdef PLUGIN
    void *plugin = dlopen("./libexchange.so", RTLD_NOW | RTLD_LOCAL);
    sum = ((long (*)(int, int))dlsym(plugin, "exchange"))(rank, size);
#elif defined IDLE
    sum = 0;
#else
    sum = exchange(rank, size);
#endif
    MPI_Gather(&sum, 1, MPI_LONG, all, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("%s%ld%s", i ? " " : "RESULT ", all[i], i == size - 1 ? "\n" : "");
    MPI_Finalize();
    return 0;
}
END
mpicc.mpich -g -shared -fPIC -o libexchange.so library.c && mpicc.mpich -g -o linked main.c -L. -lexchange -Wl,-rpath,"$work" && mpicc.mpich -g -DPLUGIN -o loading main.c -ldl && mpicc.mpich -g -DIDLE -o idle main.c && mpicc.mpich -g -o whole main.c library.c || fail "it does not compile"

for program in linked loading whole; do
    run 60 record "$reprise" record -o "$program.run" "${launch[@]}" "./$program"
    [ "$status" -eq 0 ] || fail "record $program: exit status $status"
    run 60 replay "$reprise" replay "$program.run"
    [ "$status" -eq 0 ] && grep -q identical replay.err && [ "$(result replay)" = "$(result record)" ] || fail "replay $program: exit status $status"
    run 60 det "$reprise" det "${launch[@]}" "./$program"
    [ "$status" -eq 0 ] && [ -n "$(result det)" ] || fail "det $program: exit status $status"
done
"$reprise" dump --sites whole.run >dump.out && grep -q 'library.c:11' dump.out || fail "the place of the program's call is not told"
"$reprise" doctor ./whole >doctor.out && ! grep -q refused doctor.out || fail "doctor: something is refused"
[ "$("$reprise" env record ./idle | grep -c libreprise-isendrecv)" -eq 0 ] || fail "a program that never calls it pays for it"
[ "$("$reprise" env record ./whole | grep -c libreprise-isendrecv)" -eq 1 ] || fail "a program that calls it is not looked after"

# The second program of a command.
cat >waits.c <<'END'
#include <mpi.h>
#include <stdio.h>
long exchange(int rank, int size);
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long out[2] = {rank, rank}, in[2];
    MPI_Request r[4];
#ifdef PLAIN
    for (int step = 0; step < 5; step++) {
        for (int k = 0; k < 2; k++) {
            MPI_Irecv(&in[k], 1, MPI_LONG, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &r[k]);
            MPI_Isend(&out[k], 1, MPI_LONG, (rank + k + 1) % size, step, MPI_COMM_WORLD, &r[2 + k]);
        }
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }
#else
    (void)out, (void)in, (void)r;
    printf("RESULT %d %ld\n", rank, exchange(rank, size));
#endif
    MPI_Finalize();
    return 0;
}
END
mpicc.mpich -g -w -DPLAIN -o plain waits.c && mpicc.mpich -g -o second waits.c library.c || fail "it does not compile"
run 60 record "$reprise" record -o two mpirun.mpich -n 1 ./plain : -n 2 ./second
[ "$status" -eq 0 ] || fail "record of two programs, of which the second calls it: exit status $status"
run 60 replay "$reprise" replay two
[ "$status" -eq 0 ] && [ "$(sort replay.out)" = "$(sort record.out)" ] || fail "replay of two programs: exit status $status"

run 100 stress "$reprise" stress --runs 3 -o stressed "${launch[@]}" ./whole
[ "$status" -ne 123 ] && [ "$status" -ne 125 ] && grep -q '3 runs' stress.err stress.out || fail "stress: exit status $status"

# What is handed over by it after a region whose receives are shuffled, which with an argument depends on their order.
cat >region.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include "reprise.h"
int main(int argc, char **argv)
{
    int rank, size, value = 1;
    long sum = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != 0)
        for (int i = 0; i < 4; i++)
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    else
        reprise_commutative_begin(4ul * (unsigned long)(size - 1));
    for (int i = 0; rank == 0 && i < 4 * (size - 1); i++) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        sum = argc > 1 ? sum * 3 + status.MPI_SOURCE : sum + status.MPI_SOURCE;
    }
    if (rank == 0)
        reprise_commutative_end();
    MPI_Isendrecv_replace(&sum, 1, MPI_LONG, (rank + 1) % size, 2, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && argc == 1)
        printf("RESULT %ld\n", sum);
    MPI_Finalize();
    return 0;
}
END
mpicc.mpich -g -I "$include" -o region region.c "$build/lib/libreprise.a" -ldl || fail "it does not compile"
for argument in '' careless; do
    rm -rf run
    run 60 record "$reprise" record -o run "${launch[@]}" ./region $argument
    [ "$status" -eq 0 ] || fail "record of a region: exit status $status"
    for seed in 1 2 3; do
        run 60 "shuffled$seed" env REPRISE_SHUFFLE=$seed "$reprise" replay --shuffle run
        [ -n "$argument" ] || { [ "$status" -eq 0 ] && [ "$(result "shuffled$seed")" = "$(result record)" ]; } || fail "shuffled: exit status $status"
    done
    [ -z "$argument" ] || grep -q 'MPI_Isendrecv_replace.*region.c:24' shuffled?.err || fail "what depends on the order is not found"
done

cat >body.inc <<'END'
integer, parameter :: steps = 5
integer :: rank, size, ierror, step, k, mine(2), theirs(2), total, where
END
cat >old.f90 <<'END'
program old
    implicit none
    include 'mpif.h'
    include 'body.inc'
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
END
cat >new.f90 <<'END'
program new
    use mpi_f08
    implicit none
    include 'body.inc'
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
END
command -v mpif90.mpich >compile.out || { echo "without Fortran: no compiler"; exit 0; }
for program in old new; do
    mpif90.mpich -g -ffree-line-length-none -o "$program" "$program.f90" >compile.out 2>&1 || fail "$program.f90 does not compile: $(cat compile.out)"
    run 60 record "$reprise" record -o "$program.run" "${launch[@]}" "./$program"
    [ "$status" -eq 0 ] || fail "record of Fortran, $program: exit status $status"
    run 60 replay "$reprise" replay "$program.run"
    [ "$status" -eq 0 ] && grep -q identical replay.err && [ "$(sort replay.out)" = "$(sort record.out)" ] || fail "replay of Fortran, $program: exit status $status"
done
