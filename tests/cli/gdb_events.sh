# SPDX-License-Identifier: MIT
# In gdb: the number of the event, the receives under way with their recorded messages, and steps by event, in a replay that stays identical.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
unset TMUX STY
program=$build/tests/mpi/$mpi/irecv_out_of_order
script=$("$reprise" gdb --script) && [ -e "$script" ] || fail "no script"
TEST_PACE_MS=2 run 60 record "$reprise" record -o run "${launch[@]}" "$program"
[ "$status" -eq 0 ] || fail "record: exit status $status"
"$reprise" dump -r 0 run >dump.out || fail "dump"
total=$(grep -c '^0 [0-9]' dump.out)
target=$((total / 2))

mkdir bin # without gdbserver
printf "#!/bin/sh\nexit 1\n" >bin/rsh && chmod +x bin/rsh
for tool in "${launch[0]}" hydra_pmi_proxy orted sh env; do
    path=$(command -v "$tool") && ln -s "$path" "bin/$tool"
done
PATH=$work/bin TEST_PACE_MS=2 "$reprise" replay --gdb 0 run >replay.out 2>replay.err </dev/null &
replayer=$!
for _ in $(seq 300); do grep -q 'gdb -p' replay.err && break; sleep 0.1; done
pid=$(sed -n "s/.*rank 0 waits: 'reprise gdb -p \([0-9]*\)'.*/\1/p" replay.err | head -n 1)
[ -n "$pid" ] || fail "nobody waits for gdb"
timeout 100 "$reprise" gdb -q -batch -p "$pid" -ex 'reprise where' -ex 'echo [step]\n' -ex 'reprise step' -ex 'frame' -ex 'reprise pending' -ex 'echo [step 2]\n' -ex 'reprise step 2' \
    -ex 'echo [until]\n' -ex "reprise until $target" -ex 'echo [end]\n' -ex continue >session.out 2>session.err </dev/null
part() { sed -n "/^\[$1\]/,/^\[$2\]/p" session.out; }
wait "$replayer" || fail "replay: exit status $?"
grep -q 'replayed [1-9][0-9]* events on 4 ranks: identical$' replay.err || fail "not identical"
[ "$(result replay)" = "$(result record)" ] || fail "another result"
grep -q '^no replay has begun in this process' session.out || fail "where, before main"
# A call may replay several events. What comes next is what the dump has there.
check() { # PART NEXT-PART LEAST: sets `at`
    at=$(part "$1" "$2" | sed -n "s/^rank 0: \([0-9]*\) of $total events replayed; next is .*/\1/p")
    [ -n "$at" ] && [ "$at" -ge "$3" ] || fail "$1: at event '$at', not $3 or later"
    local next
    next=$(sed -n "s/^0 $at \([A-Z]*\) \(MPI_[A-Za-z]*\) .*/\1 in \2/p" dump.out)
    part "$1" "$2" | grep -q "; next is event $at: $next" || fail "$1: event $at is $next"
    part "$1" "$2" | grep -q 'irecv_out_of_order.c:[0-9]*$' || fail "$1: not in the program"
}
check step 'step 2' 1
check 'step 2' until $((at + 2))
check until end "$target"
# Each receive under way takes what is recorded for it: three were posted, and one is done with.
[ "$(part step 'step 2' | grep -c '^receive [0-9]*, request 0x[0-9a-f]*: takes a message from rank [0-9]* with tag [0-9]*$')" -eq 2 ] || fail "not two receives under way"
while read -r post source tag; do
    grep -q "^0 [0-9]* MATCH .* post=$post source=$source tag=$tag " dump.out || fail "receive $post takes no message from rank $source with tag $tag"
done < <(sed -n 's/^receive \([0-9]*\), .* rank \([0-9]*\) with tag \([0-9]*\)$/\1 \2 \3/p' session.out)

run 20 wrong "$reprise" gdb --script more
[ "$status" -eq 120 ] || fail "gdb --script more: exit status $status"
