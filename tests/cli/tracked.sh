# SPDX-License-Identifier: MIT
# Tracked programs: what is refused, and how; damaged logs of loads; a rank that was killed while it polled; without reprise, and without a set.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
source "$(dirname "$0")/../lib/track.sh"
track_with clang || { echo "skipped: no way to track by clang"; exit 77; }
launcher "$mpi" 2


tracked "$mpi" "$programs/tracked_app.c" app -pthread
"mpicc.$mpi" -O2 -o plain "$programs/tracked_app.c" -pthread || fail "not compiled"

refuses 120 'either counts or is tracked' "$build/bin/reprise-cc" --track --ticks=auto "$programs/tracked_app.c"
mkdir -p bare/bin bare/lib/reprise/cc && cp "$build/bin/reprise-cc" bare/bin && cp "$build"/lib/reprise/cc/*.o bare/lib/reprise/cc
refuses 123 'no plugin of reprise for clang .*--track=calls' bare/bin/reprise-cc --track=plugin "--mpi=$mpi" -c "$programs/tracked_app.c"
bare/bin/reprise-cc --track --reprise-show "--mpi=$mpi" "$programs/tracked_app.c" >shown && grep -q -- '-fsanitize=thread.*reprise-track-calls.o' shown || fail "without a plugin it is not tracked by calls"

# Without reprise, and recorded without data, it is like any other program.
run 60 native "${launch[@]}" ./app
[ "$status" -eq 0 ] || fail "native: exit status $status"
run 60 without "$reprise" record --ranks none -o without "${launch[@]}" ./app none
[ "$status" -eq 0 ] || fail "without data: exit status $status"
refuses 123 'MPI_Win_allocate_shared' "$reprise" record --ranks none -o refused "${launch[@]}" ./app
refuses 123 "else compile it by 'reprise-cc --track'" "$reprise" record --ranks all -o refused2 "${launch[@]}" ./plain

run 60 record "$reprise" record --ranks all -o run "${launch[@]}" ./app
[ "$status" -eq 0 ] || fail "record: exit status $status"
[ -s run/rank-00000.loads ] && [ ! -e run/rank-00000.loads-tail ] || fail "no log of loads, or not closed"
bytes=$(cat run/*.data run/*.loads | wc -c)
grep -q "and $bytes bytes of data, in " record.err || fail "the summary does not tell of $bytes bytes of data"
run 60 replay "$reprise" replay run
[ "$status" -eq 0 ] && [ "$(sort replay.out)" = "$(sort record.out)" ] || fail "replay: exit status $status"

refuses 120 'was not compiled by reprise-cc --track' "$reprise" solo --force -r 1 run -- ./plain
cp run/rank-00001.loads whole
size=$(stat -c %s whole)
damage run/rank-00001.loads $((size - 60))
refuses 122 'rank 1: .*loads.*damaged' "$reprise" solo -r 1 run
refuses 122 'rank 1: .*loads.*damaged' "$reprise" verify run
head -c $((size - 50)) whole >run/rank-00001.loads
refuses 122 'rank 1: .*loads was not closed' "$reprise" solo -r 1 run
cp run/rank-00000.loads run/rank-00001.loads
refuses 122 'belongs to another record or rank' "$reprise" solo -r 1 run
cp run/rank-00001.data run/rank-00001.loads
refuses 122 'not a log of loads' "$reprise" solo -r 1 run
rm run/rank-00001.loads
refuses 122 'rank 1: .*loads is not there' "$reprise" solo -r 1 run
refuses 122 'rank 1: .*loads is not there' "$reprise" verify run

refuses 123 'rank 0: error: a thread other than the one that calls MPI uses window memory' "$reprise" record --ranks 0 -o threads "${launch[@]}" ./app thread

# A rank that was killed while it polled has polled as often alone.
run 60 hang "$reprise" record --ranks 1 -o hang "${launch[@]}" ./app hang
[ "$status" -ne 0 ] || fail "hang: exit status $status"
run 60 alone "$reprise" solo -r 1 hang
[ "$status" -eq 0 ] && grep -q 'the record ends inside a load from window memory' alone.err || fail "alone: exit status $status"

# What another rank stored makes a loop crash: alone, too, at the same place.
run 60 crash "$reprise" record --ranks 1 -o crash "${launch[@]}" ./app crash
[ "$status" -ne 0 ] || fail "crash: exit status $status"
run 60 again "$reprise" solo -r 1 crash
[ "$status" -eq 139 ] || fail "the crash alone: exit status $status, not 139"
echo "tracked programs on $mpi"
