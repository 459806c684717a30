# SPDX-License-Identifier: MIT
# A replay whose message never comes says so, and ends; one that hangs as the recorded run did ends without waiting for that.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
cat >late.c <<'END_OF_C'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    int rank, size, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5 * (size - 1) && rank == 0; i++)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5 && rank > 0; i++)
        MPI_Send(&rank, 1, MPI_INT, 0, i == 3 && getenv("LATE_TAG") ? atoi(getenv("LATE_TAG")) : 0, MPI_COMM_WORLD);
    if (rank == 0 && argc > 1 && strcmp(argv[1], "hang") == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
END_OF_C
"mpicc.$mpi" -g -o late late.c || fail "it does not compile"

run 60 record "$reprise" record -o run "${launch[@]}" ./late
[ "$status" -eq 0 ] || fail "record: exit status $status"
LATE_TAG=5 run 60 tagged "$reprise" replay --stall 2 run
[ "$status" -eq 121 ] || fail "another tag: exit status $status"
grep -q 'no rank can move' tagged.err || fail "another tag: nothing is said"
grep -q 'rank 0 waits, event [0-9] of 10, .*: MPI_Recv for a message from rank .* with tag 0' tagged.err || fail "another tag: it is not said what is waited for"

run 60 hang timeout -k 5 6 "$reprise" record -o hung "${launch[@]}" ./late hang
"$reprise" info hung >info.out 2>info.err || fail "the record of a hang cannot be read"
SECONDS=0
run 60 again "$reprise" replay hung # --stall is 30 s
[ "$status" -eq 0 ] || fail "a hang: exit status $status"
[ "$SECONDS" -lt 28 ] || fail "a hang: it took $SECONDS s to say so"
grep -q 'rank 0: end of the record after event 10, in MPI_Recv' again.err || fail "a hang: it is not said where"
grep -q 'replayed 10 events on 3 ranks: identical up to the end of the record' again.err || fail "a hang: not identical"
