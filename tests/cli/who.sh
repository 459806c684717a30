# SPDX-License-Identifier: MIT
# reprise solo --who and dump --who: which rank wrote what reads got, with lines, in a program whose answer is known; and what they say when they cannot.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
cat >known.c <<'END'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, *memory, values[8] = {0}, forty_two = 42, one = 1, zero = 0, found = 0, found_too = 0;
    MPI_Win win;
    MPI_Datatype spread;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    MPI_Win_allocate(8 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 8; i++)
        memory[i] = 0;
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Put(&forty_two, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* PUT */
    MPI_Win_fence(0, win);
    if (rank == 2)
        MPI_Get(values, 2, MPI_INT, 0, 0, 2, MPI_INT, win); /* GET */
    MPI_Win_fence(0, win);
    if (rank == 0)
        memory[3] = 7;
    MPI_Win_fence(0, win); /* OUT */
    if (rank == 2)
        MPI_Get(values + 3, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Fetch_and_op(&one, &found, MPI_INT, 0, 5, MPI_SUM, win); /* ADD */
        MPI_Compare_and_swap(&one, &zero, &found_too, MPI_INT, 0, 6, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 2)
        MPI_Get(values + 5, 2, MPI_INT, 0, 5, 2, MPI_INT, win);
    MPI_Win_unlock_all(win);
    if (rank == 2) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Get(values, 1, spread, 0, 0, 1, spread, win);
        MPI_Win_unlock(0, win);
        printf("RESULT %d %d %d %d\n", values[0], values[3], values[5], values[6]);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
END
line() { grep -n "/\* $1 \*/" known.c | cut -d: -f1; }
says() { # PATTERN FILE
    grep -qE "$1" "$2" || fail "not said: $1"
}
"mpicc.$mpi" -g -o known known.c || fail "not compiled"
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
says "^2 [0-9]+ READ MPI_Get .* owner=0 offset=4 bytes=4 .* value=00000000 writer=0 how=first" dump.out
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
cat >units.c <<'END'
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, members, place;
    long *memory, found;
    MPI_Comm half;
    MPI_Win win, all;
    MPI_Request request;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &place);
    MPI_Comm_size(half, &members);
    MPI_Win_allocate(80, rank % 2 ? 8 : 1, MPI_INFO_NULL, half, &memory, &win);
    MPI_Win_allocate(80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &all);
    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, all);
    for (long i = 1; i <= 30; i++) {
        long value = 10 * i + rank;
        MPI_Aint at = (i % 10) * (rank % 2 ? 1 : 8);
        MPI_Rput(&value, 1, MPI_LONG, (place + 1) % members, at, 1, MPI_LONG, win, &request);
        MPI_Wait(&request, &status);
        MPI_Win_flush_all(win);
        MPI_Rget(&found, 1, MPI_LONG, (place + 1) % members, at, 1, MPI_LONG, win, &request);
        MPI_Wait(&request, &status);
        MPI_Fetch_and_op(&value, &found, MPI_LONG, (rank + 1) % 4, 3, MPI_REPLACE, all);
        MPI_Win_flush((rank + 1) % 4, all);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_unlock_all(all);
    MPI_Win_free(&win);
    MPI_Win_free(&all);
    MPI_Finalize();
    return 0;
}
END
"mpicc.$mpi" -g -o units units.c || fail "not compiled"
launcher "$mpi" 4
run 100 record "$reprise" record --ranks all -o units.run "${launch[@]}" ./units
[ "$status" -eq 0 ] || fail "record: exit status $status"
run 60 solo "$reprise" solo -r all --who --json units.run
[ "$status" -eq 0 ] || fail "solo: exit status $status"
launcher "$mpi" 3
/usr/bin/python3 - <<END || fail "not what each rank wrote itself"
import collections, json
count = collections.Counter()
for line in map(json.loads, open("solo.out")):
    function, first = line["function"], line["how"] == "first"
    assert line["writer"] is not None and line["file"].endswith("/units.c"), line
    if line["kind"] == "CHANGE":
        continue
    if function == "MPI_Rget":
        assert (line["writer"], line["by"]) == (line["rank"], "MPI_Rput"), line
    else:
        assert line["writer"] == (line["owner"] if first else line["rank"]), line
    count[function, first] += 1
assert count["MPI_Rget", False] == 120 and count["MPI_Fetch_and_op", False] == 116 and count["MPI_Fetch_and_op", True] == 4, count
END

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
