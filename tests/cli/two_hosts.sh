# SPDX-License-Identifier: MIT
# Ranks on another host get the preload, whatever the launcher passes on.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
source "$(dirname "$0")/../lib/hosts.sh"
need_both_hosts "$mpi"
cat >where.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size;
    long value, hash = 0;
    char host[64];
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gethostname(host, sizeof host);
    printf("rank %d is on %s\n", rank, host);
    for (int i = 0; i < 20; i++)
        if (rank > 0)
            MPI_Send(&(long){rank * 100 + i}, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < 20 * (size - 1); i++) {
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        hash = hash * 31 + value;
    }
    if (rank == 0)
        printf("RESULT hash=%016lx\n", hash);
    MPI_Finalize();
    return 0;
}
END
"mpicc.$mpi" -o where where.c || fail "it does not compile"

run 60 record "${there[@]}" "$reprise" record -o outside "${spread[@]}" ./where
[ "$status" -eq 0 ] || fail "record: exit status $status"
grep -q "recorded [1-9][0-9]* events on 4 ranks" "$work/record.err" || fail "record"
grep -q "rank 3 is on $host_b" "$work/record.out" || fail "not on two hosts"
run 60 replay "${there[@]}" "$reprise" replay outside
[ "$status" -eq 0 ] || fail "replay: exit status $status"
[ "$(result replay)" = "$(result record)" ] || fail "another result"
grep -q 'identical$' "$work/replay.err" || fail "not identical"

run 60 record "${there[@]}" "${spread[@]}" "$reprise" record -o "$work/inside" ./where
[ "$status" -eq 0 ] || fail "record inside: exit status $status"
run 60 replay "${there[@]}" "${spread[@]}" "$reprise" replay "$work/inside" ./where
[ "$status" -eq 0 ] || fail "replay inside: exit status $status"
[ "$(result replay)" = "$(result record)" ] || fail "another result inside"
