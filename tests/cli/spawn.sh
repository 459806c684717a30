# SPDX-License-Identifier: MIT
# Spawned children in all commands: they have names, are counted, and damage, crashes, divergences and waits are theirs by name. What modes cannot do is refused.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
"mpicc.$mpi" -g -o parts "$programs/spawn_parts.c" || fail "it does not compile"
skip_unless_native 60 "${launch[@]}" ./parts plain

record() { # NAME WHAT
    run 100 "$1" "$reprise" record -o "$1" "${launch[@]}" ./parts "$2"
    grep -q '^SKIP' "$1.out" && { echo "skipped: this MPI cannot spawn"; exit 77; }
}
replays() { # STATUS WORDS NAME ARGUMENTS...
    local wanted=$1 words=$2
    shift 2
    run 100 replay "$reprise" replay --stall 3 "$@"
    [ "$status" -eq "$wanted" ] || fail "replay $*: exit status $status, not $wanted"
    grep -q -- "$words" replay.err || fail "replay $*: '$words' is not said"
}

record run plain
[ "$status" -eq 0 ] || fail "record: exit status $status"
grep -q 'recorded 4 events on 2 ranks and 2 children' run.err || fail "record: children are not counted"
replays 0 'replayed 4 events on 2 ranks and 2 children: identical$' run
[ -z "$(ls -A run | grep -v -x -e jobs -e job-0.1 -e manifest.json -e 'rank-0000[01].log')" ] || fail "left behind: $(ls -A run)"

# Names
"$reprise" info run >info.out || fail "info"
grep -q '^ 0\.1\.1  *2  *2 .*finished$' info.out || fail "info: no child 0.1.1"
grep -q '^spawned *0\.1 (2): .*parts plain$' info.out || fail "info: no job 0.1"
"$reprise" info --json run | python3 -c 'import json,sys; j=json.load(sys.stdin)["spawned"][0]; assert j["job"] == "0.1" and j["by_rank"][1]["events"] == 2' || fail "info --json"
"$reprise" verify run | grep -q '4 events on 2 ranks and 2 children, all checks passed$' || fail "verify"
[ "$("$reprise" dump -r 0.1.1 run | grep -c '^0\.1\.1 [01] RECV MPI_Recv')" -eq 2 ] || fail "dump -r 0.1.1"
[ "$("$reprise" dump run | wc -l)" -eq 4 ] || fail "dump"
"$reprise" dump --json -r 0.1.1 run | head -n 1 | grep -q '^{"job": "0.1", "rank": 1, "event": 0' || fail "dump --json"
"$reprise" status run | grep -q '^ 0\.1\.0 .*finished' || fail "status"
"$reprise" report --format text run | grep -q '^record .*job-0\.1$' || fail "report"
"$reprise" diff run run >diff.out || fail "diff of a record and itself"
grep -q '^job 0\.1:$' diff.out || fail "diff: no job 0.1"
refuses 120 'the record has ranks 0 to 1, and children' "$reprise" dump -r 0.1.2 run
refuses 120 'belongs to the spawned job 0.1: name the record' "$reprise" replay run/job-0.1

# Inside the launcher, which has no settings to pass on to children.
run 100 inside "${launch[@]}" "$reprise" record -o inside ./parts plain
[ "$status" -eq 0 ] || fail "inside: exit status $status"
"$reprise" verify inside | grep -q '4 events on 2 ranks and 2 children' || fail "inside: not recorded"
run 100 again "${launch[@]}" "$reprise" replay inside ./parts plain
[ "$status" -eq 0 ] && grep -q 'identical$' again.err || fail "inside: not replayed"

# Damage
cp -r run lost
rm lost/job-0.1/rank-00001.log
for command in info verify dump replay; do refuses 122 'job-0.1/rank-00001.log' "$reprise" "$command" lost; done
cp -r run gone
rm -r gone/job-0.1
for command in info verify dump replay; do refuses 122 'the record of job 0.1, 2 processes that rank 0 spawned, is missing' "$reprise" "$command" gone; done
cp -r run bent
damage bent/job-0.1/rank-00001.log 100
refuses 122 'job-0.1/rank-00001.log' "$reprise" verify bent
cp -r run listed
sed -i 's/ 2 / 3 /' listed/jobs
refuses 122 'the checksum of job 0.1 is wrong' "$reprise" replay listed

# Other paths
record crash crash
grep -q 'rank 0\.1\.1: 1 events, then it ended by a signal' crash.err || fail "crash: the child is not named"
run 100 replay "$reprise" replay crash
{ [ "$status" -ne 0 ] || [ "$mpi" = mpich ]; } && grep -q 'replayed 3 events on 2 ranks and 2 children: identical up to the end of the record' replay.err || fail "crash: not replayed: $status" # MPI_Abort ends the job: with what a replay at its end says, or what Open MPI makes of that
record diverge diverge
OTHER=1 replays 121 'rank 0\.1\.1: error: the replay left the record at event 1 of 2: another MPI function' diverge
record hang hang
OTHER=1 replays 121 '^  rank 0\.1\.1 waits, event 1 of 2, .*MPI_Recv for a message from rank 0 with tag 9' hang
record none none
OTHER=1 replays 121 'rank 0: error: the replay left the record' none
record twice twice
OTHER=1 replays 121 'a spawn that the record does not have' twice

# Refused by name
run 100 clocks "$reprise" record --clocks -o clocks "${launch[@]}" ./parts plain
[ "$status" -eq 123 ] && grep -q 'MPI_Comm_spawn cannot be recorded with clocks' clocks.err || fail "--clocks: status $status"
