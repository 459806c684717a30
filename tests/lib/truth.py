#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often 'reprise dump --who --json' is right: usage: truth.py steal|hashtable TRUTH RANKS KNOWN < LINES

TRUTH is what APP_TRUTH named when the app ran on so many RANKS; KNOWN are the ranks whose accesses are known, such as 0,1,2. All others are 'outside'. A read is right if the writer of all its words of eight bytes is.
Ends with status 1 if there are no reads. Prints one line of numbers.
"""
import collections
import json
import sys

app, truth, ranks, known = sys.argv[1], sys.argv[2], int(sys.argv[3]), set(map(int, sys.argv[4].split(",")))
reads = collections.defaultdict(list)  # (rank, access): its parts
for line in sys.stdin:
    part = json.loads(line)
    if part["function"] != "MPI_Win_allocate":  # what was in the memory that MPI gave
        reads[part["rank"], part["access"]].append(part)


def writers_of_words():
    """hashtable: every value is written once to a place, but for the zeros in the beginning."""
    writer = {}
    for rank in range(ranks):
        for line in open(f"{truth}.{rank}"):
            owner, at, value = map(int, line.split())
            assert (owner, at, value) not in writer
            writer[owner, at, value] = rank
    return writer


def check_hashtable():
    writer = writers_of_words()
    for parts in reads.values():
        yield parts, lambda part, at, value: part["owner"] if value == 0 else writer[part["owner"], at, value]


def check_steal():
    """steal: the n-th MPI_Get of a rank is told by the n-th line of its file."""
    for rank in known:
        gets = iter([parts for (r, _), parts in sorted(reads.items()) if r == rank and parts[0]["function"] == "MPI_Get"])
        for line in open(f"{truth}.{rank}"):
            owner, first, count, *writers = map(int, line.split())
            parts = next(gets)
            assert parts[0]["owner"] == owner and parts[0]["offset"] == 8 * first and sum(p["bytes"] for p in parts) == 8 * count, (rank, line, parts[0])
            yield parts, lambda part, at, value: writers[at // 8 - first]
        assert not list(gets)


def is_right(part, true_writer):
    value = bytes.fromhex(part["value"])
    for i in range(0, part["bytes"], 8):
        true = true_writer(part, part["offset"] + i, int.from_bytes(value[i:i + 8], "little"))
        if part["writer"] != (true if true in known else None):
            return False
    return True


count = collections.Counter()
for parts, true_writer in check_steal() if app == "steal" else check_hashtable():
    sure = all("possible" not in part for part in parts)
    right = all(is_right(part, true_writer) for part in parts)
    count["reads"] += 1
    count["right"] += right
    count["sure"] += sure
    count["sure and wrong"] += sure and not right
if not count["reads"]:
    sys.exit("no reads")
print(f"{count['reads']} reads, {count['right']} right, {100 * count['right'] / count['reads']:.2f} percent; {count['reads'] - count['sure']} of several, {count['sure and wrong']} of the others wrong")
