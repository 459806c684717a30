# SPDX-License-Identifier: MIT
# Programs of tasks whose annotations are wrong: a region that is never complete is named, and so is an entry that changes the state alone; what info, verify and dump say of such a record.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
"mpicc.$mpi" -I"$source/include" -o ring "$programs/task_regions_ring.c" -L"$build/lib/reprise/$mpi" -lreprise-tasks || fail "not compiled"
launcher "$mpi" 3

run 60 right "${launch[@]}" ./ring 8
[ "$status" -eq 0 ] && ! grep -q incomplete right.err || fail "complete regions: exit status $status"
run 60 nine "$reprise" record --tasks -o nine "${launch[@]}" ./ring 9
[ "$status" -eq 0 ] && grep -q "node(0,0,0): region 3 of entry 'add' is incomplete at the end: 6 of 9 messages came, and 'finish' did not run.* other tasks" nine.err || fail "a region of 9: exit status $status"
run 60 seven "${launch[@]}" ./ring 7
grep -q "region 4 of entry 'add' is incomplete at the end: 3 of 7 messages came" seven.err || fail "a region of 7 is not named"

run 60 record "$reprise" record --tasks -o run "${launch[@]}" ./ring 8 wrong
[ "$status" -eq 0 ] || fail "record: exit status $status"
run 60 shuffled env REPRISE_SHUFFLE=3 "$reprise" replay --shuffle run
[ "$status" -eq 121 ] && grep -q 'node(.*): its last state is not the recorded one' shuffled.err && grep -q "error: entry 'add' of node: its messages do not commute" shuffled.err || fail "shuffled: exit status $status"

"$reprise" info run >info.out || fail "info"
grep -q '^record .*run, of a program of tasks$' info.out && grep -q '^processes 3$' info.out && grep -q '^tasks *16$' info.out && grep -q '^command .*ring 8 wrong$' info.out || fail "info says something else"
"$reprise" info --json run | python3 -c 'import json, sys; r = json.load(sys.stdin); sys.exit(not (r["kind"] == "tasks" and r["tasks"] == 16 and r["processes"] == 3 and r["complete"] and r["command"][-1] == "wrong"))' || fail "info --json"
"$reprise" verify run >verify.out && grep -q '16 tasks on 3 processes, all checksums are right$' verify.out || fail "verify"
run 20 dump "$reprise" dump run
[ "$status" -eq 120 ] && grep -q 'is a record of a program of tasks' dump.err || fail "dump: exit status $status"
cp -r run lost
rm lost/tasks-00001
run 20 verify "$reprise" verify lost
[ "$status" -eq 122 ] && grep -q 'tasks-00001 is not there' verify.err || fail "verify, a lost file: exit status $status"
damage run/tasks-00002 30
run 20 verify "$reprise" verify run
[ "$status" -eq 122 ] && grep -q 'tasks-00002: its checksum is wrong' verify.err || fail "verify, damage: exit status $status"
run 60 crash env REPRISE_TASKS_KILL=0@100 "$reprise" record --tasks -o crash "${launch[@]}" ./ring 8
[ "$status" -ne 0 ] || fail "no crash"
"$reprise" verify crash >verify.out && grep -q 'incomplete: it was cut off' verify.out || fail "verify, cut off"
# Processes that were killed when they made their journals left blank ones, whichever is found first.
for process in 00000 00001 00002; do
    rm -rf blank
    cp -r crash blank
    for other in 00000 00001 00002; do [ "$other" = "$process" ] || head -c 4096 /dev/zero >"blank/tasks-$other.journal"; done
    run 20 verify "$reprise" verify blank
    [ "$status" -eq 0 ] && grep -q '16 tasks on 3 processes.*incomplete: it was cut off' verify.out || fail "verify, blank journals but $process: exit status $status"
done
head -c 4096 /dev/zero >"blank/tasks-00002.journal"
run 20 verify "$reprise" verify blank
[ "$status" -eq 122 ] && grep -q 'cut off before any of its processes had recorded anything' verify.err || fail "verify, blank journals alone: exit status $status"
