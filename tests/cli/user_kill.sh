# SPDX-License-Identifier: MIT
# A program that hangs is ended by the user: by Ctrl-C, by `timeout`. Its record verifies, and its replay comes to the same place, says so, and ends by itself.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../mpi/crash" && pwd)
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
"mpicc.$mpi" -g -I"$here" -o hangs "$programs/user_kill_hangs.c" || fail "it does not compile"
line() { grep -hs '^PARTIAL' "$work/$1.out" | tail -n 1; }

hangs() { # NAME: waits until it does
    for _ in $(seq 300); do [ -n "$(line "$1")" ] && break; sleep 0.1; done
    sleep 0.5 # the other ranks, too
}

# NAME HOW...: as a shell starts a job, in a process group of its own, which then gets SIGINT
interrupt() {
    local name=$1 group
    shift
    TEST_ORDER=up setsid "$reprise" record -o "$name" "${launch[@]}" ./hangs "$@" >"$name.out" 2>"$name.err" </dev/null &
    group=$! # setsid does not fork here
    hangs "$name"
    kill -INT -- "-$group" || fail "$name: nobody to interrupt"
    for _ in $(seq 300); do kill -0 "$group" 2>/dev/null || break; sleep 0.1; done
    kill -KILL -- "-$group" 2>/dev/null && fail "$name: no end 30 s after Ctrl-C"
    wait "$group" # the status is the launcher's: MPICH's may end with 0 after Ctrl-C
}

time_out() { # NAME HOW...
    local name=$1 timer
    shift
    TEST_ORDER=up timeout 60 "$reprise" record -o "$name" "${launch[@]}" ./hangs "$@" >"$name.out" 2>"$name.err" </dev/null &
    timer=$!
    hangs "$name"
    kill -ALRM "$timer" # so does its clock when the time is up
    wait "$timer"
    status=$?
    [ "$status" -eq 124 ] || fail "$name: exit status $status, not 124"
}

check_replay() { # NAME
    local recorded events
    recorded=$(line "$1")
    [ -n "$recorded" ] || fail "$1: it did not come to its hang"
    grep -q 'recorded [1-9][0-9]* events on 4 ranks.*(4 ranks did not finish)' "$1.err" || fail "$1: no summary"
    "$reprise" verify "$1" >verify.out 2>verify.err || fail "$1: verify: exit status $?"
    events=$("$reprise" info --json "$1" | sed -n 's/.*"sum": {"events": \([0-9]*\),.*/\1/p')
    TEST_ORDER=down run 100 replay "$reprise" replay --stall 2 "$1"
    [ "$(line replay)" = "$recorded" ] || fail "$1: replay: $(line replay), recorded $recorded"
    [ "$status" -eq 0 ] || fail "$1: replay: exit status $status"
    grep -q 'end of the record after event [0-9]*, in MPI_[A-Z][a-z]*: there this rank was killed' replay.err || fail "$1: replay: not said where"
    grep -q "replayed $events events on 4 ranks: identical up to the end of the record" replay.err || fail "$1: replay: not all $events events"
    echo "$1 on $mpi: $events events, $recorded"
}

interrupt interrupt-any any any any any
check_replay interrupt-any
interrupt interrupt-named named named named named
check_replay interrupt-named
time_out timeout-each named any some poll
check_replay timeout-each
time_out timeout-barrier any barrier barrier barrier
check_replay timeout-barrier

# NAME RANK PATTERN: a debugger at the end of the rank's record sees this on its stack: the program's call
debug() {
    rm -f gdb.err # of the rank before
    "$reprise" replay --stall 1 --at-end gdb "$1" >gdb.out 2>gdb.err </dev/null &
    replayer=$!
    for _ in $(seq 300); do grep -qs "rank $2: .*'gdb -p" gdb.err && break; sleep 0.1; done
    pid=$(sed -n "s/.*rank $2: .*'gdb -p \([0-9]*\)'.*/\1/p" gdb.err | head -n 1)
    [ -n "$pid" ] || fail "gdb: rank $2 of $1 does not wait"
    timeout 60 gdb -q -batch -p "$pid" -ex continue -ex bt >session.out 2>session.err </dev/null
    grep -q SIGTRAP session.out || fail "gdb: $1 did not stop"
    grep -q "$3" session.out || fail "gdb: no stack of the program in $1"
    kill -TERM "$replayer"
    wait "$replayer"
}

debug interrupt-named 1 'in hang ' # no event shows this hang
run 60 leaves timeout -k 5 20 "$reprise" record -o leaves "${launch[@]}" ./hangs exit any any any
run 100 again "$reprise" replay --stall 2 leaves # the status is the program's
grep -q 'replayed [1-9][0-9]* events on 4 ranks: identical up to the end of the record' again.err || fail "leaves: not to the end"
[ "$(line again)" = "$(line leaves)" ] || fail "leaves: another result"
debug leaves 0 'in hang '
true
