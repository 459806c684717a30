# SPDX-License-Identifier: MIT
# reprise solo: what it says when it cannot: a rank that is not of the set, a damaged, cut off or foreign data log, another program, no rank; and several ranks at once.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
program=$build/apps/$mpi/masterworker
run 60 record "$reprise" record --ranks 0,2-3 -o run "${launch[@]}" "$program" --size 200
[ "$status" -eq 0 ] || fail "record: exit status $status"
[ -e run/rank-00000.data ] && [ ! -e run/rank-00001.data ] && [ -e run/rank-00003.data ] || fail "not the data of the set"
[ ! -e run/rank-00000.tail ] || fail "a tail was left"


run 60 several "$reprise" solo -r 0,2-3 run
[ "$status" -eq 0 ] || fail "several: exit status $status"
for rank in 0 2 3; do grep -q "rank $rank replayed alone: .*: identical\$" several.err || fail "rank $rank is not identical"; done
[ "$(result several)" = "$(result record)" ] || fail "another result"
# Without any launcher, and wherever the record is.
cp -r run elsewhere
run 60 alone env -i PATH=/nowhere "$reprise" solo -r 2 elsewhere
[ "$status" -eq 0 ] && grep -q identical alone.err || fail "without a launcher"

# By the name by which it was called, and which it knows.
PATH=$build/tests/mpi/$mpi:$PATH run 60 named "$reprise" record --ranks all -o named "${launch[@]}" solo_called
[ "$status" -eq 0 ] || fail "by name: exit status $status"
run 60 called "$reprise" solo -r 0 named
[ "$status" -eq 0 ] && grep -q identical called.err || fail "by name: exit status $status"
[ "$(result called)" = "$(result named)" ] || fail "by name: another result"
# Also if something else calls it, by its path, as debuggers do.
run 60 called "$reprise" solo -r 0 named -- env "$build/tests/mpi/$mpi/solo_called"
[ "$status" -eq 0 ] && grep -q identical called.err || fail "by its path: exit status $status"
[ "$(result called)" = "$(result named)" ] || fail "by its path: another result"

refuses 120 'no data of rank 1: it was not among the ranks' "$reprise" solo -r 1 run
refuses 120 'has ranks 0 to 3' "$reprise" solo -r 17 run
"$reprise" info run | grep -q '^data .* of 3 ranks: 0,2-3$' || fail "info does not say of which ranks there is data"
rm elsewhere/rank-00003.data
refuses 122 'rank 3: .*rank-00003.data is not there' "$reprise" solo -r 3 elsewhere
refuses 122 'rank 3: .*rank-00003.data is not there' "$reprise" verify elsewhere
"$reprise" recode --codec tables -o recoded run >recode.out && "$reprise" verify recoded >verify.out || fail "what has no data any more is called incomplete"
run 60 beyond "$reprise" record --ranks 1,3-5,99 -o beyond "${launch[@]}" "$program" --size 20
[ "$status" -eq 0 ] && grep -q -- '--ranks 1,3-5,99: the job has ranks 0 to 3, and no 4-5,99$' beyond.err || fail "--ranks: not said that there is no rank 99"
run 60 inside "${launch[@]}" "$reprise" record --ranks 99 "$program" --size 20
[ "$(grep -c -- '--ranks 99: the job has ranks 0 to 3, and no 99$' inside.err)" -eq 1 ] || fail "--ranks inside: not said once that there is no rank 99"
refuses 120 'which rank' "$reprise" solo run
refuses 120 'which rank' "$reprise" solo -r 1,x run
refuses 120 'ranks are expected' "$reprise" record --ranks 5-2 "${launch[@]}" "$program"
refuses 120 'while messages carry clocks' "$reprise" record --ranks 1 --clocks "${launch[@]}" "$program"
refuses 120 'not the program that was recorded' "$reprise" solo -r 2 run -- "$build/apps/$mpi/halo"
refuses 120 'no/such/place' "$reprise" solo -r 2 --directory no/such/place run

size=$(stat -c %s run/rank-00002.data)
cp run/rank-00002.data whole
damage run/rank-00002.data $((size - 60))
refuses 122 'rank 2: .*damaged' "$reprise" solo -r 2 run
refuses 122 'rank 2: .*damaged' "$reprise" verify run
head -c $((size - 70)) whole >run/rank-00002.data
refuses 122 'rank 2: .*the record is incomplete' "$reprise" solo -r 2 run
head -c 40 whole >run/rank-00002.data
refuses 122 'not a data log' "$reprise" solo -r 2 run
cp run/rank-00003.data run/rank-00002.data
refuses 122 'belongs to another record or rank' "$reprise" solo -r 2 run
cp whole run/rank-00002.data

# The same program with other arguments is another run.
refuses 121 'rank 0: error: not the recorded run: call' "$reprise" solo -r 0 run -- "$program" --size 300

# Whoever makes fewer calls is not the recorded run, though all events are the same.
"mpicc.$mpi" -o barriers "$programs/solo_barriers.c" || fail "not compiled"
BARRIERS=5 run 60 record "$reprise" record --ranks 1 -o five "${launch[@]}" ./barriers
[ "$status" -eq 0 ] || fail "record: exit status $status"
run 60 alone "$reprise" solo -r 1 five
[ "$status" -eq 0 ] && grep -q identical alone.err || fail "five: exit status $status"
refuses 121 'rank 1: error: not the recorded run: call 4 was MPI_Barrier, the program ends here' "$reprise" solo -r 1 five -- env BARRIERS=3 ./barriers
refuses 121 'rank 1 alone: it went on where the recorded rank called MPI_Finalize' "$reprise" solo -r 1 five -- env BARRIERS=6 ./barriers

# Its record ends where an error handler left a call, and its destructor asks MPI for more.
run 60 record "$reprise" record --ranks 1 -o left "${launch[@]}" "$build/tests/mpi/$mpi/rough_habits"
[ "$status" -eq 0 ] || fail "record: exit status $status"
run 30 alone "$reprise" solo -r 1 left
[ "$status" -eq 0 ] || fail "left: exit status $status"
grep -q 'rank 1: the record ends inside MPI_Send' alone.err || fail "the end inside MPI_Send is not told"

# It goes elsewhere before it initialises MPI, by a path that means something only where it began.
"mpicc.$mpi" -o elsewhere.exe "$programs/solo_elsewhere.c" || fail "not compiled"
mkdir below
touch below/here
run 60 record "$reprise" record --ranks 1 -o moved "${launch[@]}" ./elsewhere.exe
[ "$status" -eq 0 ] || fail "record: exit status $status"
run 30 alone "$reprise" solo -r 1 moved
[ "$status" -eq 0 ] && [ "$(result alone)" = "RESULT there" ] || fail "moved: exit status $status, $(result alone)"
