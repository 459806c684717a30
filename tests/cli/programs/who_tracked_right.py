# SPDX-License-Identifier: MIT
"""usage: SOURCE RANKS LEAST <LINES: is the writer right of at least 99 of 100 values?"""
import collections, json, re, sys
ranks, least = [int(word) for word in sys.argv[2].split(",")], int(sys.argv[3])
line_of = {re.search(r"/\* ([A-Z]+) \*/$", text)[1]: i + 1 for i, text in enumerate(open(sys.argv[1])) if re.search(r"/\* [A-Z]+ \*/$", text)}
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
