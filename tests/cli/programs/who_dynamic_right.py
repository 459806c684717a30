# SPDX-License-Identifier: MIT
"""usage: RANKS <LINES: is the writer right of at least 99 of 100 values?"""
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
