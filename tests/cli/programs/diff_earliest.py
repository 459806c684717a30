# SPDX-License-Identifier: MIT
"""usage: JSON: the earliest divergence is that of the least clock."""
import json, sys
diff = json.load(open(sys.argv[1]))
earliest = [d for d in diff["divergences"] if d["rank"] == diff["earliest"]["rank"]][0]
if len(diff["divergences"]) > 1:
    assert diff["earliest"]["basis"] == "clocks"
    assert earliest["sides"][0]["clock"] == min(d["sides"][0]["clock"] for d in diff["divergences"])
for side in earliest["sides"]:
    assert side["function"] == "MPI_Recv" and any(f.get("file", "").endswith("recv_any_source.c") for f in side["frames"]), side
