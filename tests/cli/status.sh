# SPDX-License-Identifier: MIT
# reprise status: of a recording and of a replay while they run, and after; the line on a terminal, and none elsewhere.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
program=$build/tests/mpi/$mpi/recv_any_source
field() { python3 -c 'import json,sys; s=json.load(open(sys.argv[1])); print(eval(sys.argv[2], {"s": s}))' "$1" "$2"; }
ask() { # TEXT FILE: asks for the status of 'run' until the text is there
    for _ in $(seq 900); do
        "$reprise" status run >"$2" 2>/dev/null && grep -q -- "$1" "$2" && return
        sleep 0.1
    done
    fail "'$1' does not come in $2"
}

# While it is recorded: ranks send seconds apart, so that it can be looked at.
TEST_ORDER=up TEST_PACE_MS=5000 "$reprise" record -o run "${launch[@]}" "$program" >record.out 2>record.err </dev/null &
recorder=$!
ask 'is being written$' live.out
ask '^ *0 *[1-9][0-9]* .*runs' live2.out
"$reprise" status --json run >live.json 2>live.err || fail "live, as JSON"
[ "$(field live.json 's["state"]')" = running ] || fail "live: $(field live.json 's["state"]')"
line=$(grep -n 'MPI_Recv(.*MPI_ANY_SOURCE' "$(dirname "$0")/../mpi/recv_any_source.c" | head -n 1 | cut -d: -f1)
[ ! -e /usr/lib/*/libdw.so.1 ] || ask "^ *0 .*runs, in MPI_Recv, called in [a-z_]* at .*/recv_any_source.c:$line (process [0-9]*)\$" called.out
process=$(field live.json 's["ranks"][0]["process"]')
[ "$(readlink "/proc/$process/exe")" = "$program" ] || fail "process $process is not a rank"
kill -TERM "$recorder"
wait "$recorder"
! grep -q $'\r' record.err || fail "a line for a terminal was written to a file"

for _ in $(seq 100); do # ranks may outlive their launcher for a while
    "$reprise" status run >killed.out 2>killed.err && ! grep -q 'runs' killed.out && break
    sleep 0.1
done
grep -q '^record .*/run, ended before its time$' killed.out || fail "not ended"
mv run killed

# When it has ended it says what info says.
TEST_ORDER=up TEST_PACE_MS=5 run 100 record "$reprise" record -o run "${launch[@]}" "$program"
[ "$status" -eq 0 ] || fail "record: exit status $status"
"$reprise" status run >ended.out 2>ended.err || fail "ended"
"$reprise" status --json run >ended.json || fail "ended, as JSON"
"$reprise" info --json run >info.json || fail "info"
grep -q '^record .*/run, complete$' ended.out || fail "not complete"
[ "$(grep -c ' finished$' ended.out)" -eq 4 ] || fail "not all finished"
for what in events bytes; do
    [ "$(field ended.json "s['$what']")" = "$(field info.json "s['sum']['$what']")" ] || fail "$what: $(field ended.json "s['$what']"), not $(field info.json "s['sum']['$what']")"
done
[ "$(field ended.json 's["replays"]')" = '[]' ] || fail "a replay of nobody"

# While it is replayed rank 0 waits for others, which sleep.
TEST_ORDER=up TEST_PACE_MS=100000 "$reprise" replay run >replay.out 2>replay.err </dev/null &
replayer=$!
ask "^replay  *process $replayer: [0-9.]* %, [0-9]* of [1-9][0-9]* events; slowest is rank [0-3]: [0-9.]* %" replaying.out
ask '^ *0 .*waits since [0-9]* s: MPI_.*a message from rank [1-3] ' waiting.out
"$reprise" status --json run >replaying.json || fail "replay, as JSON"
[ "$(field replaying.json 's["replays"][0]["process"]')" = "$replayer" ] || fail "another process"
[ "$(field replaying.json 'len(s["replays"][0]["ranks"])')" = 4 ] || fail "not four ranks"
[ "$(field replaying.json 's["replays"][0]["total"] == s["events"]')" = True ] || fail "other events than recorded"
cp run/replay-*.state old.state
kill -TERM "$replayer"
wait "$replayer"

# The file of a replay that is no more, and one that is none.
cp old.state "run/replay-$replayer.state"
echo nothing >run/replay-1.state
for _ in $(seq 100); do # ranks may outlive their launcher for a while
    run 20 old "$reprise" status run
    [ "$status" -eq 0 ] || fail "old files: exit status $status"
    grep -q '^replay' old.out || break
    sleep 0.1
done
! grep -q '^replay' old.out || fail "a replay that is no more is told"
rm run/replay-*.state

refuses 120 "no record 'nothing'" "$reprise" status nothing
refuses 120 'one RUN is expected' "$reprise" status run run
refuses 120 "unknown option '--xml'" "$reprise" status --xml run
mkdir empty
refuses 120 'empty is not a record' "$reprise" status empty
truncate -s 100 run/rank-00001.log
refuses 122 'rank 1: ' "$reprise" status run

# On a terminal.
command -v script >/dev/null || exit 0
export TERM=xterm
TEST_ORDER=up TEST_PACE_MS=150 run 100 terminal script -qec "$reprise record -o shown ${launch[*]} $program" /dev/null
grep -q $'\r\033\\[Kreprise: [0-9]* events on 4 ranks, [0-9]* bytes; fewest on rank [0-3]: [0-9]*' terminal.out || fail "no line on a terminal"
grep -q 'reprise: recorded [1-9]' terminal.out || fail "no summary on a terminal"
TEST_ORDER=up TEST_PACE_MS=150 run 100 terminal script -qec "$reprise replay shown" /dev/null
grep -q $'\r\033\\[Kreprise: [0-9]* % of [1-9][0-9]* events on 4 ranks; slowest is rank [0-3]: [0-9]* %' terminal.out || fail "no line of the replay on a terminal"
TERM=dumb TEST_ORDER=up TEST_PACE_MS=100 run 100 dumb script -qec "$reprise replay shown" /dev/null
! grep -q $'\033' dumb.out || fail "a line on a terminal that cannot"
