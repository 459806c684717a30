# SPDX-License-Identifier: MIT
# diff: none between runs of a deterministic program; between others, what a comparison of their dumps finds; threads, deterministic runs, wrong commands.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
record() { # NAME PROGRAM...: with the options in $options
    local name=$1
    shift
    run 60 record "$reprise" record ${options:-} -o "$name" "${launch[@]}" "$@"
    [ "$status" -eq 0 ] || fail "record $name: $status"
}
compare() { # STATUS OPTION... RUN RUN: text in diff.out, JSON in diff.json
    local wanted=$1
    shift
    run 60 diff "$reprise" diff "$@"
    [ "$status" -eq "$wanted" ] || fail "diff $*: exit status $status, not $wanted"
    "$reprise" diff --json "$@" >diff.json
    [ $? -eq "$wanted" ] || fail "diff --json $*: another exit status than $wanted"
    python3 -m json.tool diff.json >/dev/null || fail "diff --json $* is no JSON"
}

# A ring: everybody receives from anybody, but only one sends.
"mpicc.$mpi" -g -O1 -o ring "$programs/diff_ring.c" || fail "mpicc.$mpi"
record ring1 ./ring
options='--codec tables --timestamps' record ring2 ./ring
compare 0 ring1 ring2
grep -q '^no difference: 200 events on 4 ranks$' diff.out || fail "a deterministic program: not 200 events without a difference"

# The first difference of each rank by their dumps. Numbers of sites are those of a run; where they are in the source is not.
brute='
import json, sys
def load(name, ranks, without_polls):
    all = [[] for _ in range(ranks)]
    for line in open(name):
        words = line.split()
        if without_polls and words[2] == "NO":
            continue
        fields = [w for w in words[2:] if not w.startswith(("site=", "time=", "clock="))]
        all[int(words[0])].append((int(words[1]), fields))
    return all
diff, without_polls = json.load(open(sys.argv[1])), sys.argv[4] == "without"
ones, others = (load(name, diff["ranks"], without_polls) for name in sys.argv[2:4])
expected = {}
for rank, (one, other) in enumerate(zip(ones, others)):
    at = next((i for i, (a, b) in enumerate(zip(one, other)) if a[1] != b[1]), min(len(one), len(other)))
    if at < max(len(one), len(other)):
        expected[rank] = tuple(side[at][0] if at < len(side) else None for side in (one, other))
found = {d["rank"]: tuple(s["event"] if s["kind"] else None for s in d["sides"]) for d in diff["divergences"]}
assert found == expected, (found, expected)
assert diff["differing"] == len(expected) >= int(sys.argv[5]), expected
assert diff["earliest"]["rank"] in expected
'
options='--clocks --timestamps'
TEST_ORDER=up record up "$build/tests/mpi/$mpi/recv_any_source"
TEST_ORDER=down record down "$build/tests/mpi/$mpi/recv_any_source"
compare 1 up down
for name in up down; do "$reprise" dump $name >$name.txt || fail "dump $name"; done
python3 -c "$brute" diff.json up.txt down.txt with 1 || fail "recv_any_source: other differences than those of the dumps"
python3 "$programs/diff_earliest.py" diff.json || fail "the earliest is not that of the least clock"
grep -q 'recv_any_source.c:[1-9]' diff.out || fail "no line of the source is named"
compare 0 up up

# A program that polls. Without polls its calls stand in one order.
options=
particles=("$build/apps/$mpi/particles" --size 2000 --steps 3)
record one "${particles[@]}"
record two "${particles[@]}"
for name in one two; do "$reprise" dump $name >$name.txt || fail "dump $name"; done
run 60 diff "$reprise" diff --ignore-polls --json one two
if [ "$status" -eq 1 ]; then
    cp "$work/diff.out" diff.json
    python3 -c "$brute" diff.json one.txt two.txt without 0 || fail "particles: other differences than those of the dumps"
elif [ "$status" -ne 0 ]; then
    fail "diff of particles: $status"
fi
"$reprise" recode --codec tables -o one-tables one >/dev/null || fail recode
compare 0 one one-tables

# Threads
launcher "$mpi" 3
record threads1 "$build/tests/mpi/$mpi/threads_one_comm"
record threads2 "$build/tests/mpi/$mpi/threads_one_comm"
compare 0 threads1 threads1
run 60 diff "$reprise" diff threads1 threads2
[ "$status" -le 1 ] || fail "diff of threads: $status"
[ "$status" -eq 0 ] || grep -q 'thread' "$work/diff.out" || fail "no thread is named"

# Deterministic runs are the same, whatever happens around them, polls too.
launcher "$mpi" 4
for name in det1 det2; do
    run 60 $name "$reprise" det --check --record -o $name "${launch[@]}" "$build/apps/$mpi/particles" --size 300
    [ "$status" -eq 0 ] || fail "det --record: $status"
done
compare 0 det1 det2

# What cannot be compared, and wrong commands
refuses 120 'has 4 ranks, .* has 3' "$reprise" diff one threads1
refuses 120 'two records are expected' "$reprise" diff one
refuses 120 "no record 'nothing'" "$reprise" diff one nothing
compare 1 ring1 one
grep -q '^other programs: .*ring .*particles' diff.out || fail "another program is not told"
options='--codec cdc' record rows ./ring
refuses 120 'holds rows' "$reprise" diff ring1 rows
cp -a one broken && damage broken/rank-00000.log 150
refuses 122 'rank 0: .*at byte' "$reprise" diff one broken
echo "differences on $mpi"
