#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: solo_threads.sh MPI: ranks whose threads call MPI, alone: where one leaves its record the thread is named, the record of a killed one ends where it did, and what cannot be replayed is refused.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
command -v "mpicc.$mpi" >/dev/null || { echo "skipped: no $mpi"; exit 77; }
"mpicc.$mpi" -g -O1 -o app "$programs/solo_threads_app.c" -pthread || fail "it does not compile"
launcher "$mpi" 2

run 60 record "$reprise" record --ranks all -o good "${launch[@]}" ./app
[ "$status" -eq 0 ] || fail "record: exit status $status"
grep -q MULTIPLE record.out && exit 77
run 60 solo "$reprise" solo -r 0 good
[ "$status" -eq 0 ] && grep -q 'rank 0 replayed alone: .*: identical$' solo.err && grep -q '^done$' solo.out || fail "solo: exit status $status"
run 60 both "$reprise" solo -r all good
[ "$status" -eq 0 ] && [ "$(grep -c 'identical$' both.err)" -eq 2 ] || fail "both: exit status $status"

touch diverge
run 60 other "$reprise" solo -r 0 good
[ "$status" -eq 121 ] || fail "another call: exit status $status"
grep -q 'not the recorded run: call [0-9]* of thread [12] was MPI_Isend, the program calls MPI_Barrier$' other.err || fail "another call: not named"
rm diverge
touch arguments
run 60 arguments "$reprise" solo -r 1 good
[ "$status" -eq 121 ] || fail "other arguments: exit status $status"
grep -q 'call [0-9]* of thread [12] was MPI_Isend with other arguments' arguments.err || fail "other arguments: not named"
rm arguments

"$reprise" verify good >verify.out 2>verify.err || fail "verify"
cp -r good damaged
printf 'x' | dd of=damaged/rank-00000.turns bs=1 seek=70 conv=notrunc 2>/dev/null
"$reprise" verify damaged >verify.out 2>verify.err && fail "verify: a damaged log of turns"
run 60 damaged "$reprise" solo -r 0 damaged
[ "$status" -eq 122 ] && grep -q 'rank-00000.turns' damaged.err || fail "a damaged log of turns: exit status $status"

# A thread that was in a receive when the process was killed waits there again.
touch killed
run 60 killed "$reprise" record --ranks 0 -o killed.run "${launch[@]}" ./app
[ "$status" -ne 0 ] || fail "it was not killed"
run 60 again "$reprise" solo -r 0 killed.run
grep -q 'rank 0 replayed alone: .*: identical$' again.err || fail "killed: not identical"
rm killed

touch freed
run 60 freed "$reprise" record --ranks all -o freed.run "${launch[@]}" ./app
[ "$status" -eq 123 ] && grep -q 'MPI_Request_free of a receive from anyone that is under way, where several threads' freed.err || fail "freed: exit status $status"
rm freed
run 60 who "$reprise" solo -r 0 --who good
[ "$status" -eq 0 ] || grep -q 'several threads that may all call MPI: who wrote what cannot be told yet' who.err || fail "who: exit status $status"
