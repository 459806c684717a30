# SPDX-License-Identifier: MIT
# Spawned children share the logical time of their parents: they have names, run deterministically with them, are recorded with them, and a deadlock between them is found.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
"mpicc.$mpi" -g -o parts "$programs/spawn_parts.c" || fail "it does not compile"
skip_unless_native 60 "${launch[@]}" ./parts plain
! grep -q SKIP native.out || { echo "skipped: this MPI cannot spawn"; exit 77; }
rooms() { find /dev/shm /tmp -maxdepth 1 -name 'reprise-det-*' 2>/dev/null | wc -l; }
before=$(rooms)

refused() { # NAME WORDS COMMAND...
    local name=$1 words=$2
    shift 2
    run 100 "$name" "$@"
    ended_with "$mpi" 123 || fail "$name: exit status $status, not 123"
    grep -qF -- "MPI_Comm_spawn cannot be made deterministic: $words" "$name.err" || fail "$name: '$words' is not said"
}

# Two runs make the same decisions; the children are counted on behind the ranks.
for run in one two; do
    run 100 "$run.run" "$reprise" det --check -o "$run" "${launch[@]}" ./parts plain
    [ "$status" -eq 0 ] || fail "det: exit status $status"
    grep -q 'deterministic: 4 matches, 0 answers' "$run.run.err" || fail "det: the matches of the children are not counted"
    [ "$(grep -c '^[0-3] ' "$run/decisions")" -eq 4 ] || fail "det: not four ranks"
done
cmp -s one/decisions two/decisions || fail "other decisions"
"$reprise" diff one two >diff.out || fail "diff: $(cat diff.out)"

# Inside the launcher, which has no settings to pass on to children.
run 100 inside "${launch[@]}" "$reprise" det --check ./parts plain
[ "$status" -eq 0 ] && grep -q 'deterministic: 4 matches' inside.err || fail "inside: exit status $status"

# Recorded, too
run 100 record "$reprise" det --record -o record "${launch[@]}" ./parts plain
[ "$status" -eq 0 ] && grep -q 'recorded 4 events on 2 ranks and 2 children' record.err || fail "--record: exit status $status"
run 100 replay "$reprise" replay record
[ "$status" -eq 0 ] && grep -q 'replayed 4 events on 2 ranks and 2 children: identical$' replay.err || fail "replay: exit status $status"

# While it runs, `reprise status` shows the children, and no more than there are.
"$reprise" det "${launch[@]}" ./parts waits >waits.out 2>waits.err </dev/null &
runner=$!
for _ in $(seq 600); do
    "$reprise" status >status.out 2>/dev/null && grep -q '^ *0\.1\.1 .*waits since [0-9]* s: MPI_Recv for a message from rank 0 with tag 9 ' status.out && break
    sleep 0.1
done
[ "$(awk '!NF { exit } /^ *[0-9]/ { printf "%s ", $1 }' status.out)" = "0 1 0.1.0 0.1.1 " ] || fail "status: $(cat status.out)"
"$reprise" status --json | python3 -c 'import json, sys; ranks = json.load(sys.stdin)["runs"][0]["ranks"]; sys.exit([r["name"] for r in ranks] != ["0", "1", "0.1.0", "0.1.1"] or ranks[3]["state"] != "waits")' || fail "status: JSON"
touch go
wait "$runner" || fail "waits: exit status $?"

# Errors of children
OTHER=1 run 100 deadlock "$reprise" det "${launch[@]}" ./parts hang
ended_with "$mpi" 119 || fail "deadlock: exit status $status"
grep -q 'rank 0\.1\.1 waits in MPI_Recv for a message from rank 0 with tag 9' deadlock.err || fail "deadlock: the child is not named"
run 100 crash "$reprise" det "${launch[@]}" ./parts crash
[ "$status" -ne 0 ] || fail "a child that crashes goes unnoticed"

# Refused by name
refused few 'there is room for 3 processes, children included, and 2 of them have been started' "$reprise" det --children 1 "${launch[@]}" ./parts plain
REPRISE_HOSTS=2 refused hosts 'children of a job of several hosts' "$reprise" det "${launch[@]}" ./parts plain
refused closed 'the program has closed file' "$reprise" det "${launch[@]}" ./parts closes
(ulimit -f 100000000 && refused limit 'there is room for 2 processes' "$reprise" det "${launch[@]}" ./parts plain) || exit 1
printf '#!/bin/sh\nunset LD_PRELOAD\nexec "$(dirname "$0")/parts" "$@"\n' >bare
chmod +x bare
# MPI_Abort of Open MPI 5 leaves children alone, and its launcher waits for these for ever, natively too.
[ "$mpi-${openmpi_version%%.*}" = openmpi-5 ] || PROGRAM=./bare refused bare 'the children run without reprise' "$reprise" det "${launch[@]}" ./parts plain
refuses 120 '--children x' "$reprise" det --children x "${launch[@]}" ./parts plain
[ "$(rooms)" -eq "$before" ] || fail "left behind in /dev/shm"
