# SPDX-License-Identifier: MIT
# Shared file pointers: where the pointer cannot be in memory, in records of deterministic runs, in records with clocks, under stress. A replay by clocks cannot have them.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
program=$build/tests/mpi/$mpi/file_pointer
export TEST_FOLDER=$work
[ -x "$program" ] || { echo "skipped: not built"; exit 77; }
tries() { # NAME ARGUMENTS OF RECORD...: records and replays in another order
    local name=$1
    shift
    TEST_ORDER=random:7 run 60 "$name" "$reprise" record "$@" -o "$name.run" "${launch[@]}" "$program"
    [ "$status" -eq 0 ] && [ -n "$(result "$name")" ] || fail "record, $name: exit status $status"
    TEST_ORDER=down run 60 "again_$name" "$reprise" replay "$name.run"
    [ "$status" -eq 0 ] && grep -q identical "again_$name.err" && [ "$(result "again_$name")" = "$(result "$name")" ] || fail "replay, $name: exit status $status"
}

tries plain
"$reprise" dump --sites plain.run >dump.out && grep -A1 'MPI_File_write_shared called' dump.out | grep -q 'file_pointer.c:' || fail "the place of the program's call is not told"
"$reprise" doctor "$program" >doctor.out && ! grep -q refused doctor.out || fail "doctor: something is refused"
tries clocks --clocks

# In a file beside the program's, as on several hosts.
export REPRISE_HOSTS=2
tries beside
unset REPRISE_HOSTS
[ -z "$(find . -name '*.pointer-*')" ] || fail "the pointer's file is not removed"

run 60 det "$reprise" det "${launch[@]}" "$program"
run 60 detrecord "$reprise" det --record -o det.run "${launch[@]}" "$program"
[ "$status" -eq 0 ] && [ -n "$(result det)" ] && [ "$(result detrecord)" = "$(result det)" ] || fail "det --record: exit status $status, $(result detrecord), without record $(result det)"
run 60 detreplay "$reprise" replay det.run
[ "$status" -eq 0 ] && [ "$(result detreplay)" = "$(result det)" ] || fail "replay of det: exit status $status"

run 100 stress "$reprise" stress --runs 3 -o stressed "${launch[@]}" "$program"
[ "$status" -ne 123 ] && [ "$status" -ne 125 ] && grep -q '3 runs' stress.err stress.out || fail "stress: exit status $status"

run 60 cdc "$reprise" record --codec cdc -o cdc.run "${launch[@]}" "$program"
[ "$status" -eq 123 ] && grep -q 'MPI_File_write_shared cannot be recorded in this way' cdc.err || fail "by clocks: exit status $status"
