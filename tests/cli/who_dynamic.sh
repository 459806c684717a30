# SPDX-License-Identifier: MIT
# Who wrote what is in memory that is attached to dynamic windows: each value names its writer. Memory comes and goes, and lies elsewhere when a rank is alone.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
source "$(dirname "$0")/../lib/track.sh"
launcher "$mpi" 4
export OMPI_MCA_osc=pt2pt # the others have no dynamic windows on every machine
cat >attached.c <<'END'
#include <mpi.h>
#include <stdlib.h>

enum { SLOTS = 8, ROUNDS = 12 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Aint *place = calloc((size_t)size, sizeof *place), own;
    for (int part = 1; part <= 3; part++) {
        volatile long *mine = malloc(SLOTS * sizeof *mine + 64 * (size_t)rank);
        for (int i = 0; i < SLOTS; i++)
            mine[i] = 16 * 1000 + rank + 1;
        MPI_Win_attach(win, (void *)mine, SLOTS * sizeof *mine); /* ATTACH */
        MPI_Get_address((void *)mine, &own);
        MPI_Allgather(&own, 1, MPI_AINT, place, 1, MPI_AINT, MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        for (int round = 1; round <= ROUNDS; round++) {
            long value = 16 * (100 * part + round) + rank + 1, found = 0;
            int target = (rank + round) % size;
            MPI_Aint at = (target == rank && round % 8 ? own : place[target]) + 8 * ((round + rank) % (SLOTS - 1));
            if (round % 2)
                MPI_Put(&value, 1, MPI_LONG, target, at, 1, MPI_LONG, win); /* PUT */
            else
                MPI_Fetch_and_op(&value, &found, MPI_LONG, target, at, MPI_REPLACE, win);
            MPI_Win_flush(target, win);
            mine[SLOTS - 1] = value;
            MPI_Win_sync(win);
            MPI_Barrier(MPI_COMM_WORLD);
            for (int i = 0; i < SLOTS; i++)
                found += mine[i];
            MPI_Get(&found, 1, MPI_LONG, target, place[target] + 8 * (SLOTS - 1), 1, MPI_LONG, win); /* GET */
            MPI_Win_flush(target, win);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_detach(win, (void *)mine);
        MPI_Barrier(MPI_COMM_WORLD);
        free((void *)mine);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
END
cat >right.py <<'END'
import collections, json, sys
ranks, right, wrong, kinds = [int(word) for word in sys.argv[1].split(",")], 0, [], collections.Counter()
for line in map(json.loads, sys.stdin):
    assert line["how"] != "untold" and line["offset"] > 4096, line
    for at in range(0, line["bytes"], 8):
        true = int.from_bytes(bytes.fromhex(line["value"])[at:at + 8], "little") % 16 - 1
        kinds[line["kind"], line.get("by"), true in ranks] += 1
        if line["bytes"] % 8 == 0 and line["writer"] == (true if true in ranks else None):
            right += 1
        else:
            wrong.append((true, line))
for true, line in wrong[:5]:
    print("of rank", true, line, file=sys.stderr)
print(right, "right of", right + len(wrong), dict(kinds))
assert right + len(wrong) > 150 and 100 * right >= 99 * (right + len(wrong))
assert any(kind == "READ" and by in ("MPI_Put", "MPI_Fetch_and_op") and inside for kind, by, inside in kinds), kinds
assert any(kind in ("CHANGE", "LOAD") and by in ("MPI_Put", "MPI_Fetch_and_op") and inside for kind, by, inside in kinds), kinds
assert len(ranks) < 4 or kinds["READ", "MPI_Win_attach", True] > 0, kinds
assert len(ranks) == 4 or any(not inside for kind, by, inside in kinds)
END
"mpicc.$mpi" -O2 -g -o plain attached.c || fail "not compiled"
! track_with clang || tracked "$mpi" attached.c tracked
for program in plain tracked; do
    [ -e "$program" ] || continue
    for set in all 1,2; do
        rm -rf run
        run 100 record "$reprise" record --ranks "$set" -o run "${launch[@]}" "./$program"
        [ "$status" -eq 0 ] || fail "$program, $set: record: exit status $status"
        run 100 solo "$reprise" solo -r "$set" --who --json run
        [ "$status" -eq 0 ] || fail "$program, $set: solo: exit status $status"
        /usr/bin/python3 right.py "${set/all/0,1,2,3}" <solo.out >right.out 2>right.err || fail "$program, $set: not right"
        echo "$program, ranks $set: $(cat right.out)"
    done
done
