# SPDX-License-Identifier: MIT
# Who wrote what tracked programs load, and what is found in shared windows: each value names its writer, or the turns do. At least 99 of 100 are right, or, of values that several write in turn, among those told; ranks outside the set are called so.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
source "$(dirname "$0")/../lib/track.sh"
launcher "$mpi" 4
cat >known.c <<'END'
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 8, ROUNDS = 60 };
static int rank, size;

/* Values name their writers: 16 * round + rank + 1. */
static long name(int round)
{
    return 16 * round + rank + 1;
}

/* MPICH needs the target's help. */
static void help(long polls)
{
    int flag;

    if (polls % 16 == 0)
        sched_yield();
    if (polls % 1024 == 0)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void wait_for(volatile long *counter, long least)
{
    for (long polls = 1; *counter / 16 < least; polls++)
        if (polls % 16 == 0)
            sched_yield();
}

/* Window 0: polled by its owner, with each round a Put of another rank. */
static void by_puts(void)
{
    volatile long *mine;
    MPI_Win win;

    MPI_Win_allocate(8 * SLOTS, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_lock_all(0, win);
    for (int round = 1; round <= ROUNDS / 2; round++) {
        int target = (rank + 1 + round % (size - 1)) % size;
        long value = name(round), seen;
        if (round % 2)
            MPI_Put(&value, 1, MPI_LONG, target, round % SLOTS, 1, MPI_LONG, win); /* PUT */
        else
            MPI_Fetch_and_op(&value, &seen, MPI_LONG, target, round % SLOTS, MPI_REPLACE, win);
        MPI_Win_flush(target, win);
        for (long polls = 1; mine[round % SLOTS] / 16 < round; polls++) /* POLL */
            help(polls);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Window 1, shared: all store everywhere, and load everything. */
static void by_stores(void)
{
    volatile long *all, *mine;
    MPI_Win win;
    MPI_Aint bytes;
    int unit;

    MPI_Win_allocate_shared(8 * (SLOTS + 1), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &all);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 1; round <= ROUNDS; round++) {
        long copy[SLOTS], value = name(round);
        int at = (round * 7 + rank) % (SLOTS * size);
#ifdef __clang__ /* the plugin of GCC refuses it */
        if (round % 4 == 0)
            __atomic_exchange_n(&all[at], value, __ATOMIC_SEQ_CST);
        else
#endif
        if (round % 4 == 1)
            memcpy((void *)&all[at], &value, sizeof value);
        else
            all[at] = value; /* STORE */
        for (int i = 0; i < SLOTS * size; i++)
            copy[i % SLOTS] = all[i]; /* LOAD */
        memcpy(copy, (void *)all, sizeof copy);
        all[SLOTS * size + rank] = value;
        wait_for(&all[SLOTS * size + (rank + 1) % size], round - 1);
    }
    MPI_Win_free(&win);
}

/* Window 2, shared: two values only, by turns; rank 0 reads them. */
static void by_turns(void)
{
    struct {
        volatile long value, told, read;
    } *all, *mine;
    MPI_Win win;
    MPI_Aint bytes;
    int unit;

    MPI_Win_allocate_shared(rank == 0 ? sizeof *all : 0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &all);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 1; round <= ROUNDS; round++) {
        int writer = 1 + round % (size - 1);
        if (rank == writer) {
            wait_for(&all->read, round - 1);
            all->value = 7 + 2 * (round % 2); /* TURN */
            __atomic_store_n(&all->told, name(round), __ATOMIC_RELEASE);
        } else if (rank == 0) {
            wait_for(&all->told, round);
            if (all->value != 7 + 2 * (round % 2)) /* READ */
                abort();
            __atomic_store_n(&all->read, name(round), __ATOMIC_RELEASE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    by_puts();
    by_stores();
    by_turns();
    MPI_Finalize();
    return 0;
}
END
cat >right.py <<'END'
import collections, json, re, sys
ranks, least = [int(word) for word in sys.argv[1].split(",")], int(sys.argv[2])
line_of = {re.search(r"/\* ([A-Z]+) \*/$", text)[1]: i + 1 for i, text in enumerate(open("known.c")) if re.search(r"/\* [A-Z]+ \*/$", text)}
right, wrong, kinds, turns = 0, [], collections.Counter(), collections.Counter()
for line in map(json.loads, sys.stdin):
    assert line["how"] != "untold", line
    if line["offset"] % 8 or line["bytes"] != 8 or line["how"] == "first":
        continue
    value = int.from_bytes(bytes.fromhex(line["value"]), "little")
    if line["window"] == 2:
        if line["offset"] == 0 and (line["rank"] != 0 or len(ranks) < 4): # that a rank outside stored the same again cannot be seen
            continue
        turns[0] += line["offset"] == 0
        true = 1 + turns[0] % 3 if line["offset"] == 0 else value % 16 - 1
    elif value == 0:
        continue
    else:
        true = value % 16 - 1
    kinds[line["kind"], line["window"], true in ranks] += 1
    if "possible" in line and line["window"] == 2: # the same value by several, whose turns were too close: then all of them are told
        right += true in line["possible"]
        wrong += [] if true in line["possible"] else [(true, line)]
    elif line["writer"] == (true if true in ranks else None):
        right += 1
    else:
        wrong.append((true, line))
    if line["kind"] == "LOAD":
        assert line["file"].endswith("known.c") and line["load"] > 0, line
    if line["kind"] == "LOAD" and line["window"] == 0:
        assert line["line"] == line_of["POLL"], line
        assert line["writer"] is None or line["by"] in ("MPI_Put", "MPI_Fetch_and_op"), line
    if line["kind"] == "LOAD" and line["window"] == 2 and line["offset"] == 0 and line["writer"] is not None:
        assert (line["line"], line["by"], line["how"], line["written_line"]) == (line_of["READ"], "store", "store", line_of["TURN"]), line
for true, line in wrong[:5]:
    print("of rank", true, line, file=sys.stderr)
print(right, "right of", right + len(wrong), dict(kinds))
assert right + len(wrong) >= least and 100 * right >= 99 * (right + len(wrong))
for window in 0, 1, 2:
    assert kinds["LOAD", window, True] > 0 or window == 0 or (window == 2 and 0 not in ranks), kinds
assert len(ranks) == 4 or kinds["LOAD", 1, False] > 0
END

for how in plugin calls; do
    [[ $mpi-$how = openmpi-plugin || $mpi-$how = mpich-calls ]] && order="clang gcc" || order="gcc clang" # each compiler does each with one MPI
    track_with_first $order || continue
    way="$compiler $how"
    tracked "$mpi" known.c known
    for set in all 0,1 $([ "$how" = calls ] || echo 1,2,3); do
        rm -rf run
        run 100 record "$reprise" record --ranks "$set" -o run "${launch[@]}" ./known
        [ "$status" -eq 0 ] || fail "$way, $set: record: exit status $status"
        run 100 solo "$reprise" solo -r "$set" --who --json run
        [ "$status" -eq 0 ] || fail "$way, $set: solo: exit status $status"
        ranks=${set/all/0,1,2,3}
        /usr/bin/python3 right.py "$ranks" 200 <solo.out >right.out 2>right.err || fail "$way, $set: not right"
        echo "$way, ranks $set: $(cat right.out)"
    done
done
"$reprise" dump --who run >dump.out 2>dump.err || fail "dump"
grep -qE '^[0-3] [0-9]+ LOAD load access=[0-9]+ window=1 owner=[0-3] offset=[0-9]+ bytes=8 load=[0-9]+ at=[^ ]*known.c:[0-9]+ value=[0-9a-f]{16} writer=[0-3] how=store by=store after=[0-9]+ written=[^ ]*known.c:[0-9]+' dump.out || fail "no such line"

# Shared, and not tracked: what changed is found at calls.
cat >calls.c <<'END'
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, unit;
    volatile long *all, *mine, seen = 0;
    MPI_Win win;
    MPI_Aint bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &all);
    MPI_Win_fence(0, win);
    for (long round = 1; round <= 30; round++) {
        all[(rank + round) % 4 * 2] = 16 * round + rank + 1;
        if (rank == 1 + round % 3)
            all[7] = round % 2 ? 7 : 9;
        MPI_Win_fence(0, win);
        for (int i = 0; i < 8; i++)
            seen += all[i];
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
END
cat >calls.py <<'END'
import json, sys
ranks, right, wrong, turn = [int(word) for word in sys.argv[1].split(",")], 0, [], 0
for line in map(json.loads, sys.stdin):
    for at in range(0, line["bytes"], 8):
        value, place = int.from_bytes(bytes.fromhex(line["value"])[at:at + 8], "little"), (line["owner"], line["offset"] + at)
        if value == 0 or line["offset"] % 8 or line["bytes"] % 8:
            continue
        turn += place == (3, 8) and line["rank"] == 0
        if place == (3, 8) and line["rank"] != 0:
            continue
        true = 1 + turn % 3 if place == (3, 8) else value % 16 - 1
        if line["writer"] == (true if true in ranks else None):
            right += 1
        else:
            wrong.append((true, line))
for true, line in wrong[:5]:
    print("of rank", true, line, file=sys.stderr)
print(right, "right of", right + len(wrong))
assert right + len(wrong) > 100 and 100 * right >= 99 * (right + len(wrong))
END
"mpicc.$mpi" -O2 -g -o calls calls.c || fail "not compiled"
for set in all 0,1; do
    run 100 record "$reprise" record --allow MPI_Win_allocate_shared --ranks "$set" -o "calls-$set" "${launch[@]}" ./calls
    [ "$status" -eq 0 ] || fail "calls, $set: record: exit status $status"
    run 100 solo "$reprise" solo -r "$set" --who --json "calls-$set"
    [ "$status" -eq 0 ] || fail "calls, $set: solo: exit status $status"
    /usr/bin/python3 calls.py "${set/all/0,1,2,3}" <solo.out >right.out 2>right.err || fail "calls, $set: not right"
    echo "calls, ranks $set: $(cat right.out)"
done
