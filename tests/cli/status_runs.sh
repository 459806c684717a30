# SPDX-License-Identifier: MIT
# reprise status knows of runs that leave no record while they go on: deterministic ones, and those of reprise stress. (Of reprise ft: tests/ft/status.sh.)
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
"mpicc.$mpi" -g -o waits "$programs/status_runs_waits.c" || fail "it does not compile"
field() { python3 -c 'import json,sys; s=json.load(open(sys.argv[1])); print(eval(sys.argv[2], {"s": s}))' "$1" "$2"; }
ask() { # TEXT...: asks for the status until all is there
    local text found
    for _ in $(seq 600); do
        found=yes
        "$reprise" status >status.out 2>status.err || found=no
        for text in "$@"; do grep -q -- "$text" status.out || found=no; done
        [ $found = no ] || return 0
        sleep 0.1
    done
    fail "the status does not have all of: $*"
}
refuses 120 'no record' "$reprise" status

"$reprise" det "${launch[@]}" ./waits >det.out 2>det.err </dev/null &
runner=$!
ask "^det *process $runner, since [0-9]* s: .*waits" '^ *0 *2  waits since [0-9]* s: MPI_Recv for a message from rank 1 with tag 7 on MPI_COMM_WORLD (process [0-9]*)$' '^ *1 *0  runs'
"$reprise" status --json >status.json || fail "det: as JSON"
[ "$(field status.json 's["runs"][0]["kind"], s["runs"][0]["process"], len(s["runs"][0]["ranks"]), s["runs"][0]["ranks"][0]["decisions"]')" = "('det', $runner, 3, 2)" ] || fail "det: JSON"
touch go
wait "$runner" || fail "det: exit status $?"
refuses 120 'no record' "$reprise" status
[ ! -e .reprise ] || fail "det left something behind: $(ls .reprise)"
rm go

"$reprise" stress --runs 2 --seed 5 --timeout 100 -o runs "${launch[@]}" ./waits >stress.out 2>stress.err </dev/null &
runner=$!
ask "^stress *process $runner, since [0-9]* s: .*waits" '^at  *run 1 of 2, seed 5; 0 ended before' '^record .*/runs/run-1$' '^ *0 .*waits since [0-9]* s: MPI_Recv for a message from rank 1 with tag 7 on MPI_COMM_WORLD'
"$reprise" status runs >dir.out 2>dir.err || fail "stress: by its directory"
grep -q "^stress *process $runner" dir.out || fail "stress: not found by its directory"
touch go
wait "$runner" || fail "stress: exit status $?"
"$reprise" status >status.out 2>status.err || fail "after it: no record"
! grep -q '^stress' status.out || fail "a run that has ended is told"
! ls .reprise/running-* >/dev/null 2>&1 || fail "stress left something behind"

# What a command that was killed left behind is not believed.
printf '{"process": %d, "birth": 1, "begun": 0, "ranks": 2, "kind": "det", "command": "x"}' $$ >".reprise/running-$$"
echo nonsense >.reprise/running-1
"$reprise" status >status.out 2>status.err || fail "old files: exit status $?"
! grep -q '^det' status.out || fail "a run that is no more is told"
