# SPDX-License-Identifier: MIT
"""usage: <LINES: in who_units.c each rank reads what it wrote itself."""
import collections, json, sys
count = collections.Counter()
for line in map(json.loads, sys.stdin):
    # MPICH 5 gives memory that others have used
    function, first = line["function"], line["writer"] is None or line["how"] == "first"
    assert line["file"].endswith("/who_units.c"), line
    if line["kind"] == "CHANGE":
        continue
    if function == "MPI_Rget":
        assert (line["writer"], line["by"]) == (line["rank"], "MPI_Rput"), line
    else:
        assert line["writer"] in ([line["owner"], None] if first else [line["rank"]]), line
    count[function, first] += 1
assert count["MPI_Rget", False] == 120 and count["MPI_Fetch_and_op", False] == 116 and count["MPI_Fetch_and_op", True] == 4, count
