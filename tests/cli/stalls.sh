# SPDX-License-Identifier: MIT
# A replay whose message never comes says so, and ends; one that hangs as the recorded run did ends without waiting for that.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
"mpicc.$mpi" -g -o late "$programs/stalls_late.c" || fail "it does not compile"

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
