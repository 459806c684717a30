# SPDX-License-Identifier: MIT
# reprise stress: what is kept and told, how runs are compared, and wrong command lines. Which bugs it finds is tested in tests/mpi/stress.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
program=$build/tests/mpi/$mpi/recv_any_source
refuses 120 'what is to be run' "$reprise" stress
for number in 0 -1 x 3x '' 99999999999999999999; do
    refuses 120 "--runs $number: a whole number" "$reprise" stress --runs "$number" "${launch[@]}" "$program"
done
refuses 120 '--seed -5: a whole number' "$reprise" stress --seed -5 "${launch[@]}" "$program"
refuses 120 '--timeout 0: a whole number' "$reprise" stress --timeout 0 "${launch[@]}" "$program"
refuses 120 '--delay 0: a whole number' "$reprise" stress --delay 0 "${launch[@]}" "$program"
refuses 120 'time, random, pid, host or all' "$reprise" stress --capture weather "${launch[@]}" "$program"
refuses 120 'no such program' "$reprise" stress -o none ./nowhere
refuses 123 'nothing was recorded' "$reprise" stress --mpi "$mpi" -o none2 /bin/true
refuses 120 'starts the launcher itself' "${launch[@]}" "$reprise" stress "$program"
mkdir full && touch full/file
refuses 120 'full exists already' "$reprise" stress -o full "${launch[@]}" "$program"
[ "$(ls full)" = file ] || fail "something was written to a directory that was not empty"
refuses 120 "the command cannot be run" "$reprise" stress --runs 2 -o none3 --compare ./nowhere "${launch[@]}" "$program"

# A launcher that takes part in the test: what it prints and returns differs from run to run as we like.
cat >launch <<END
#!/bin/bash
n=\$(cat "$work/count" 2>/dev/null || echo 0)
echo \$((n + 1)) >"$work/count"
${launch[*]} "$program" >/dev/null
case \$1 in
order) if [ \$((n % 2)) -eq 0 ]; then printf 'a\nb\n'; else printf 'b\na\n'; fi ;;
third) [ "\$n" -ne 2 ] || echo differs ;;
fails) [ "\$n" -ne 1 ] || exit 9 ;;
all) exit 5 ;;
never) exec sleep 100 ;;
hangs) [ "\$n" -ne 1 ] || exec sleep 100 ;;
esac
END
chmod +x launch
stress() { # OPTIONS... -- ARGUMENT: four runs
    rm -rf runs count
    run 200 stress "$reprise" stress --mpi "$mpi" --runs 4 --seed 11 -o runs "${@:1:$#-1}" ./launch "${!#}"
}
kept() { (cd runs && ls -d run-? 2>/dev/null | tr '\n' ' '); }

TEST_ORDER=up stress order
[ "$status" -eq 0 ] || fail "lines in another order: exit status $status"
grep -q '^4 runs: all ended; 4 alike, 0 differ; records in runs$' stress.out || fail "not all alike"
[ "$(kept)" = "run-1 " ] || fail "kept: $(kept)"
for i in 1 2 3 4; do grep -q "^run-$i: seed $((10 + i)), status 0, output [0-9a-f]\{16\}, [1-9][0-9]* events\$" stress.out || fail "run $i is not told"; done
! ls runs/*.state >/dev/null 2>&1 || fail "a state file was left behind"
"$reprise" verify runs/run-1 >verify.out 2>verify.err || fail "verify"

stress --compare cat order
[ "$status" -eq 1 ] || fail "--compare cat: exit status $status"
grep -q '^4 runs: all ended; 2 alike, 2 differ' stress.out || fail "--compare cat: not two of each"
[ "$(kept)" = "run-1 run-2 run-4 " ] || fail "--compare cat: kept: $(kept)"

stress third
[ "$status" -eq 1 ] || fail "another output: exit status $status"
[ "$(kept)" = "run-1 run-3 " ] || fail "another output: kept: $(kept)"
grep -q '^  run-3, seed 13: another output$' stress.out || fail "another output: run 3 is not told"
grep -q '^the shortest replay: *reprise replay runs/run-3$' stress.out || fail "another output: no way to replay"
grep -q '^where it parts: *reprise diff runs/run-1 runs/run-3$' stress.out || fail "another output: no way to compare"
[ -s runs/run-3.out ] && [ -e runs/run-3.err ] || fail "what the run wrote is not kept"
[ "$(readlink .reprise/latest)" = "$work/runs/run-3" ] || fail "the latest record is $(readlink .reprise/latest)"

stress --compare status third
[ "$status" -eq 0 ] || fail "--compare status: exit status $status"

stress fails
[ "$status" -eq 1 ] || fail "another status: exit status $status"
grep -q '^  run-2, seed 12: status 9$' stress.out || fail "another status: run 2 is not told"
[ "$(kept)" = "run-1 run-2 " ] || fail "another status: kept: $(kept)"

stress all
[ "$status" -eq 1 ] || fail "all fail: exit status $status"
grep -q '^  run-1, seed 11: status 5, like most$' stress.out || fail "all fail: not told"

stress --timeout 6 hangs
[ "$status" -eq 1 ] || fail "a hang: exit status $status"
grep -q '^  run-2, seed 12: no end within 6 s$' stress.out || fail "a hang: not told"
grep -q '^4 runs: 3 ended, 1 did not end within 6 s; of those that ended, 3 alike, 0 differ; records in runs$' stress.out || fail "a hang: not counted"

stress --timeout 3 never
[ "$status" -eq 1 ] || fail "no run ends: exit status $status"
grep -q '^4 runs: 0 ended, 4 did not end within 3 s; records in runs$' stress.out || fail "no run ends: not counted"

# Without -o, beside other records, and at most a time.
rm -rf count
run 60 named "$reprise" stress --mpi "$mpi" --runs 1 ./launch none
[ "$status" -eq 0 ] && [ -d .reprise/launch-stress-1/run-1 ] || fail "no record in .reprise: $(ls .reprise)"
grep -q '^run-1: seed [0-9]*, ' named.out || fail "no seed"

# Told to end: what there is is told.
rm -rf count runs
"$reprise" stress --mpi "$mpi" --runs 1000 -o runs ./launch none >ended.out 2>ended.err &
pid=$!
for _ in $(seq 200); do grep -q '^run-2:' ended.out && break; sleep 0.1; done
kill -TERM "$pid"
wait "$pid"
status=$?
[ "$status" -eq 0 ] || fail "told to end: exit status $status"
grep -q '^[2-9][0-9]* runs: ' ended.out || fail "told to end: no summary"
