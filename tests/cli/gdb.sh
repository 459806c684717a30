# SPDX-License-Identifier: MIT
# replay --gdb: the rank waits before main for a debugger, which can set breakpoints there; the replay is not disturbed.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
program=$build/apps/$mpi/masterworker
unset TMUX STY
run 60 record "$reprise" record -o run "${launch[@]}" "$program" --size 100
[ "$status" -eq 0 ] || fail "record: exit status $status"

# Programs without a multiplexer and without gdbserver.
mkdir bin
printf "#!/bin/sh\nexit 1\n" >bin/rsh
chmod +x bin/rsh # which Open MPI wants to find, though it needs none here
for tool in "${launch[0]}" hydra_pmi_proxy orted sh env; do
    path=$(command -v "$tool") && ln -s "$path" "bin/$tool"
done
PATH=$work/bin "$reprise" replay --gdb 1 run >replay.out 2>replay.err </dev/null &
replayer=$!
for _ in $(seq 300); do grep -q 'gdb -p' replay.err && break; sleep 0.1; done
pid=$(sed -n "s/.*rank 1 waits: 'reprise gdb -p \([0-9]*\)'.*/\1/p" replay.err | head -n 1)
[ -n "$pid" ] || fail "nobody waits for gdb"
timeout 60 gdb -q -batch -p "$pid" -ex 'set breakpoint pending on' -ex 'break main' -ex continue -ex bt -ex 'delete' -ex continue >session.out 2>session.err </dev/null
grep -q 'Breakpoint 1, .*main' session.out || fail "no stop in main"
grep -q 'exited normally' session.out || fail "the rank did not end under gdb"
wait "$replayer" || fail "replay: exit status $?"
grep -q 'replayed [1-9][0-9]* events on 3 ranks: identical$' replay.err || fail "not identical"
[ "$(result replay)" = "$(result record)" ] || fail "another result"

# With gdbserver: it is given the process, and what the user is told names the port that it takes.
cat >bin/gdbserver <<'END'
#!/bin/sh
echo "gdbserver $*" >>"$GDBSERVER_LOG"
exec "$GDB" -q -batch -p "$4" -ex continue >/dev/null 2>&1 </dev/null
END
chmod +x bin/gdbserver
export GDBSERVER_LOG=$work/server.log GDB
GDB=$(command -v gdb)
run 100 server env "PATH=$work/bin" "$reprise" replay --gdb 0,2-2 run
[ "$status" -eq 0 ] || fail "gdbserver: exit status $status"
[ "$(grep -c -- '--once --attach :0' server.log)" -eq 2 ] || fail "gdbserver was not started twice"
grep -q 'target remote .*:PORT' server.err || fail "no word of gdbserver"

run 20 wrong "$reprise" replay --gdb one run
[ "$status" -eq 120 ] || fail "--gdb one: exit status $status"
grep -q -- '--gdb one: ranks are expected' wrong.err || fail "--gdb one: no reason"
run 20 beyond "$reprise" replay run --gdb 0,9
[ "$status" -eq 120 ] && grep -q -- '--gdb 0,9: .* has ranks 0 to [0-9]*, and no 9$' beyond.err || fail "--gdb 0,9: exit status $status"
