# SPDX-License-Identifier: MIT
# Ranks of a deterministic run that connect to each other: whoever comes first in real time, all decisions are the same, also if the run is recorded; a port of nobody is refused.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 5
program=$build/tests/mpi/$mpi/connections
skip_unless_native 60 "${launch[@]}" "$program"
! grep -q SKIP native.out || { echo "skipped: this MPI opens no ports"; exit 77; }
printf 'reprise costs 1\nmicrosecond 0\n' >costs # the orders are forced by sleeping

for order in up down; do
    TEST_ORDER=$order run 120 "$order.run" "$reprise" det --check --costs costs -o "$order" "${launch[@]}" "$program"
    [ "$status" -eq 0 ] || fail "det: exit status $status"
    TEST_ORDER=$order run 120 "$order.record" "$reprise" det --record --costs costs -o "$order.recorded" "${launch[@]}" "$program"
    [ "$status" -eq 0 ] || fail "det --record: exit status $status"
    [ "$(result "$order.record")" = "$(result "$order.run")" ] || fail "--record: another result"
    grep -o 'digest.*' "$order.run.err" >"$order.digest"
done
cmp -s up/decisions down/decisions || fail "other decisions"
cmp -s up.digest down.digest && [ "$(result up.run)" = "$(result down.run)" ] || fail "another result"
"$reprise" diff up.recorded down.recorded >diff.out || fail "diff: $(cat diff.out)"

# The record of one order is replayed in the other, without logical time.
TEST_ORDER=down run 120 replay "$reprise" replay up.recorded
[ "$status" -eq 0 ] && grep -q 'identical$' replay.err || fail "replay: exit status $status"
[ "$(result replay)" = "$(result up.run)" ] || fail "replay: another result"

cat >stranger.c <<'END'
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv)
{
    MPI_Comm other;
    char port[MPI_MAX_PORT_NAME] = "";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && strcmp(argv[1], "accept") == 0) {
        if (rank == 0)
            MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    } else if (argc > 1)
        MPI_Comm_join(0, &other);
    else
        MPI_Comm_connect("a port of nobody", MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    MPI_Finalize();
    return 0;
}
END
"mpicc.$mpi" -o stranger stranger.c || fail "it does not compile"
launcher "$mpi" 1
run 60 stranger "$reprise" det "${launch[@]}" ./stranger
ended_with "$mpi" 123 && grep -q 'MPI_Comm_connect cannot be made deterministic: no process of this run has opened that port' stranger.err || fail "a port of nobody: exit status $status"
run 60 joined "$reprise" det "${launch[@]}" ./stranger join
ended_with "$mpi" 123 && grep -q 'MPI_Comm_join cannot be made deterministic: only a connected socket' joined.err || fail "no socket: exit status $status"
launcher "$mpi" 2
for _ in 1 2 3; do
    run 60 twice "$reprise" det "${launch[@]}" ./stranger accept
    ended_with "$mpi" 123 && grep -q 'rank 1: error: MPI_Comm_accept cannot be made deterministic: another rank accepts at this port' twice.err || fail "two that accept: exit status $status"
done
echo "connections of a deterministic run on $mpi"
