# SPDX-License-Identifier: MIT
# The end of a record: running on freely to a verified result, and a debugger that lands there.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
program=$build/apps/$mpi/particles
"$reprise" record -o run "${launch[@]}" "$program" --size 100000 --seed 42 >record.out 2>record.err </dev/null &
recorder=$!
for _ in $(seq 200); do [ -e run/rank-00003.log ] && break; sleep 0.02; done
sleep 0.5
kill -KILL "$(pgrep -f "^$program --size 100000 --seed 42\$" | head -n 1)" || fail "no rank to kill"
wait "$recorder"
events=$("$reprise" info --json run | sed -n 's/.*"sum": {"events": \([0-9]*\),.*/\1/p')
[ "$events" -gt 0 ] || fail "no events"

run 200 continue "$reprise" replay --at-end continue run
[ "$status" -eq 0 ] || fail "continue: exit status $status"
grep -q '^RESULT .*verified=yes' "$work/continue.out" || fail "continue: no verified result"
grep -q "replayed $events events on 4 ranks: identical up to the end of the record" "$work/continue.err" || fail "continue: not identical"

"$reprise" replay --at-end gdb run >gdb.out 2>gdb.err </dev/null &
replayer=$!
for _ in $(seq 300); do grep -q 'gdb -p' gdb.err && break; sleep 0.1; done
pid=$(sed -n "s/.*'gdb -p \([0-9]*\)'.*/\1/p" gdb.err | head -n 1)
[ -n "$pid" ] || fail "gdb: nobody waits"
timeout 60 gdb -q -batch -p "$pid" -ex continue -ex bt >"$work/session.out" 2>"$work/session.err" </dev/null
grep -q SIGTRAP "$work/session.out" || fail "gdb: did not stop"
grep -q ' main ' "$work/session.out" || grep -q 'in main' "$work/session.out" || fail "gdb: no stack of the program"
kill -TERM "$replayer"
wait "$replayer"
true
