# SPDX-License-Identifier: MIT
# reprise solo in gdb: a variable at a line has the value that the recorded run printed; a crashed rank stops at the instruction that crashed, with the same stack; --until and --break.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
command -v gdb >/dev/null || { echo "skipped: no gdb"; exit 77; }
"mpicc.$mpi" -g -O0 -o order "$programs/solo_gdb_order.c" || fail "not compiled"
launcher "$mpi" 3
run 60 record "$reprise" record --ranks 1 -o run "${launch[@]}" ./order
[ "$status" -eq 0 ] || fail "record: exit status $status"
line=$(line_of here "$programs/solo_gdb_order.c")
run 60 gdb "$reprise" solo -r 1 run -- gdb -q -batch -ex "break solo_gdb_order.c:$line if step == 13" -ex run -ex 'print sum' -ex delete -ex continue --args ./order
grep -q 'replayed alone: 20 events, .*: identical$' gdb.err || fail "in gdb: not identical"
wanted=$(sed -n 's/^step 13: sum //p' record.out)
[ -n "$wanted" ] && grep -q "^\$1 = $wanted\$" gdb.out || fail "sum is not $wanted"

run 60 until "$reprise" solo -r 1 --until 7 run
grep -q 'rank 1: 7 of 20 events replayed' until.out || fail "not until event 7"
grep -q 'rank 1 replayed alone: 7 of 20 events: identical so far' until.err || fail "--until: not said that it was stopped"
run 60 until "$reprise" solo -r 1 --until 21 run
[ "$status" -eq 120 ] && grep -q -- '--until 21: rank 1 made only 20 events' until.err && [ ! -s until.out ] || fail "--until an event that there is not: exit status $status"
run 60 silent "$reprise" record --ranks 0 -o silent "${launch[@]}" ./order
run 60 until "$reprise" solo -r 0 --until 1 silent
[ "$status" -eq 120 ] && grep -q -- '--until 1: rank 0 made no events' until.err || fail "--until without events: exit status $status"
run 60 break "$reprise" solo -r 1 --break "solo_gdb_order.c:$line" run
grep -q "Breakpoint 1, main" break.out && grep -q "^$line" break.out || fail "--break: no stop"

# The rank alone stops where it crashed.
run_failing crashed 60 crash "$reprise" record --ranks all -o crashed "${launch[@]}" ./order crash
[ "$status" -ne 0 ] || fail "no crash"
run 60 again "$reprise" solo -r 1 crashed -- gdb -q -batch -ex run -ex 'x/i $pc' -ex bt -ex 'print value' --args ./order crash
grep -q 'SIGSEGV' again.out || fail "no crash alone"
grep -q "^#0 .*take (value=$(sed -n 's/^step 19: sum //p' crash.out), step=30) at .*/solo_gdb_order.c:$(line_of crash "$programs/solo_gdb_order.c")" again.out || fail "another place"
grep -q '^#1 .*main ' again.out || fail "another stack"
run 60 plain "$reprise" solo -r 1 crashed
[ "$status" -eq 139 ] || fail "the crash alone: exit status $status, not 139"
grep -q 'replayed alone: 20 events, .*: identical$' plain.err || fail "the crash alone: not identical"
[ "$(cat plain.out)" = "$(grep '^step' crash.out)" ] || fail "the crash alone prints something else"
for rank in 0 2; do
    run 60 other "$reprise" solo -r "$rank" crashed
    [ "$status" -eq 0 ] && grep -q identical other.err || fail "rank $rank of the crashed run"
done
