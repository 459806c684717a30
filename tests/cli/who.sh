# SPDX-License-Identifier: MIT
# reprise solo --who and dump --who: which rank wrote what reads got, with lines, in a program whose answer is known; and what they say when they cannot.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
line() { line_of "$1" "$programs/who_known.c"; }
says() { # PATTERN FILE
    grep -qE "$1" "$2" || fail "not said: $1"
}
"mpicc.$mpi" -g -o known "$programs/who_known.c" || fail "not compiled"
run 60 record "$reprise" record --ranks all -o run "${launch[@]}" ./known
[ "$status" -eq 0 ] && [ "$(result record)" = "RESULT 42 7 1 1" ] || fail "record: exit status $status"
refuses 120 "no accesses of any rank: 'reprise solo -r RANKS --who' makes them" "$reprise" dump --who run
refuses 120 '--json: only with --who' "$reprise" solo -r 1 --json run
run 60 solo "$reprise" solo -r all --who run
[ "$status" -eq 0 ] || fail "solo: exit status $status"
[ "$(result solo)" = "$(result record)" ] || fail "another result"
"$reprise" dump --who run >dump.out 2>dump.err || fail "dump"
[ "$(grep -v '^RESULT' solo.out)" = "$(cat dump.out)" ] || fail "solo and dump say different things"
says "^0 [0-9]+ CHANGE MPI_[A-Za-z_]+ .* owner=0 offset=0 bytes=4 at=.*known.c:[0-9]+ value=2a000000 writer=1 how=call by=MPI_Put after=[0-9]+ written=.*known.c:$(line PUT)\$" dump.out
says "^2 [0-9]+ READ MPI_Get .* owner=0 offset=0 bytes=4 at=.*known.c:$(line GET) value=2a000000 writer=1 how=call by=MPI_Put after=[0-9]+ written=.*known.c:$(line PUT)\$" dump.out
says "^2 [0-9]+ READ MPI_Get .* owner=0 offset=4 bytes=4 .* value=00000000 writer=0 how=(first|store)" dump.out # a store, if MPI gave memory that was not zero
says "^2 [0-9]+ READ MPI_Get .* owner=0 offset=12 bytes=4 .* value=07000000 writer=0 how=store by=MPI_Win_fence after=[0-9]+ written=.*known.c:$(line OUT)\$" dump.out
says "^2 [0-9]+ READ MPI_Get .* owner=0 offset=20 bytes=4 .* value=01000000 writer=1 how=call by=MPI_Fetch_and_op after=[0-9]+ written=.*known.c:$(line ADD)\$" dump.out
says "^2 [0-9]+ READ MPI_Get .* owner=0 offset=24 bytes=4 .* value=01000000 writer=1 how=call by=MPI_Compare_and_swap" dump.out
says "^2 [0-9]+ READ MPI_Get .* writer=untold\$" dump.out
says 'one-sided reads, in [0-9]* parts: .* 1 of which nothing can be said$' dump.err
"$reprise" dump --who --json -r 2 run >two.json 2>two.err || fail "dump as JSON"
/usr/bin/python3 - <<END || fail "JSON"
import json
lines = [json.loads(line) for line in open("two.json")]
assert all(line["rank"] == 2 for line in lines)
first = next(line for line in lines if line["kind"] == "READ")
assert (first["writer"], first["by"], first["written_line"], first["line"], first["value"]) == (1, "MPI_Put", $(line PUT), $(line GET), "2a000000"), first
END

# Windows of some ranks, in another order, with other units; reads and writes with requests; others that are there before a window's owner. Each rank reads what it wrote itself, and nothing comes from outside.
"mpicc.$mpi" -g -o units "$programs/who_units.c" || fail "not compiled"
launcher "$mpi" 4
run 100 record "$reprise" record --ranks all -o units.run "${launch[@]}" ./units
[ "$status" -eq 0 ] || fail "record: exit status $status"
run 60 solo "$reprise" solo -r all --who --json units.run
[ "$status" -eq 0 ] || fail "solo: exit status $status"
launcher "$mpi" 3
/usr/bin/python3 "$programs/who_units.py" <solo.out || fail "not what each rank wrote itself"

# Without the others.
run 60 record "$reprise" record --ranks 2 -o one "${launch[@]}" ./known
[ "$status" -eq 0 ] || fail "record: exit status $status"
run 60 solo "$reprise" solo -r 2 --who one
[ "$status" -eq 0 ] || fail "solo: exit status $status"
says "^2 [0-9]+ READ MPI_Get .* owner=0 offset=0 bytes=8 .* value=2a00000000000000 writer=outside\$" solo.out
[ ! -e one/rank-00000.order ] || fail "a rank outside the set wrote"

# A program without windows has nothing to tell, and leaves no order log.
run 60 record "$reprise" record --ranks 1 -o without "${launch[@]}" "$build/apps/$mpi/masterworker" --size 50
run 60 solo "$reprise" solo -r 1 --who without
[ "$status" -eq 0 ] && says ': 0 one-sided reads' solo.err
[ ! -e without/rank-00001.order ] || fail "an order log without windows"

cp run/rank-00002.accesses whole
damage run/rank-00002.accesses 100
refuses 122 "rank 2: .*rank-00002.accesses: damaged.*'reprise solo -r 2 --who' makes it anew" "$reprise" dump --who run
run 60 anew "$reprise" solo -r 2 --who run
[ "$status" -eq 0 ] && cmp -s whole run/rank-00002.accesses || fail "not made anew"
damage run/rank-00002.order 30
refuses 122 'rank 2: .*rank-00002.order: damaged' "$reprise" dump --who run
refuses 122 'rank 2: .*rank-00002.order: damaged' "$reprise" verify run
run 60 alone "$reprise" solo -r 2 run
[ "$status" -eq 0 ] || fail "the replay needs the order log"
refuses 122 'rank 2: .*rank-00002.order: damaged' "$reprise" solo -r 2 --who run
rm run/rank-00002.order
refuses 120 'rank-00002.order is not there' "$reprise" solo -r 2 --who run
ls run/*.accesses.* 2>/dev/null && fail "something was left"
exit 0
