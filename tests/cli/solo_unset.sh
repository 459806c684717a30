# SPDX-License-Identifier: MIT
# Windows of memory that the program has not stored into: others write there what is there already, which changes nothing. Alone, something else was left in that memory.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
[ "$mpi" = mpich ] || export OMPI_MCA_osc=pt2pt # the others have no dynamic windows on every machine
cat >unset.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 40000 };

static long sum(const long *memory)
{
    long all = 0;

    for (int i = 0; i < COUNT; i++)
        all = all * 31 + memory[i];
    return all;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Win win, dynamic;
    MPI_Aint here, there;
    long *created = malloc(COUNT * sizeof *created), *attached = malloc(COUNT * sizeof *attached), *values = calloc(COUNT, sizeof *values);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COUNT; i += 100)
        values[i] = rank + i;
    /* A call that fails tells of its memory, too, and the next has none to tell of. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int failed = MPI_Win_create(values, COUNT * sizeof *values, -7, MPI_INFO_NULL, MPI_COMM_WORLD, &win) != MPI_SUCCESS;
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_free(&win);
    MPI_Win_create(created, COUNT * sizeof *created, sizeof *created, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(values, COUNT, MPI_LONG, (rank + 1) % size, 0, COUNT, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_attach(dynamic, attached, COUNT * sizeof *attached);
    MPI_Get_address(attached, &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, (rank + size - 1) % size, 0, &there, 1, MPI_AINT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, dynamic);
    MPI_Put(values, COUNT, MPI_LONG, (rank + 1) % size, there, COUNT, MPI_LONG, dynamic);
    MPI_Win_fence(0, dynamic);
    printf("RESULT rank=%d created=%ld attached=%ld failed=%d\n", rank, sum(created), sum(attached), failed);
    MPI_Win_detach(dynamic, attached);
    MPI_Win_free(&dynamic);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
END
mpicc."$mpi" -g unset.c -o unset || fail "cannot compile"
run 60 record "$reprise" record --ranks 1 -o run "${launch[@]}" ./unset
[ "$status" -eq 0 ] || fail "record: exit status $status"
expected=$(grep 'rank=1 ' record.out)
[[ $expected == *failed=1 ]] || fail "no call failed"
run 60 same "$reprise" solo -r 1 run
run 60 other "$reprise" solo -r 1 run -- env MALLOC_PERTURB_=165 ./unset
for name in same other; do
    grep -q identical $name.err || fail "$name: not identical"
    [ "$(cat $name.out)" = "$expected" ] || fail "$name: $(cat $name.out), not $expected"
    grep -q 'the memory that' $name.err && fail "$name: memory is said to be another, but is made the same"
done

# What was there was no zero: it is said.
MALLOC_PERTURB_=90 run 60 full "$reprise" record --ranks 1 -o full "${launch[@]}" ./unset
[ "$status" -eq 0 ] || fail "full: exit status $status"
run 60 told "$reprise" solo -r 1 full -- env MALLOC_PERTURB_=165 ./unset
grep -q identical told.err || fail "told: not identical"
[ "$(grep -c 'the memory that MPI_Win_create is given is not what it was in the record' told.err)" -eq 1 ] || fail "not said that memory is another"
[ "$(cat told.out)" = "$(grep 'rank=1 ' full.out)" ] || fail "told: another result"
