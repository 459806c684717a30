# SPDX-License-Identifier: MIT
"""usage: JSON OPTIONS LINE: the report of report_known.c, whose receive is in that line."""
import json, math, sys
report, clocked = json.load(open(sys.argv[1])), bool(sys.argv[2])
assert (report["format"], report["major"], len(report["runs"])) == ("reprise-report", 1, 1)
run = report["runs"][0]
assert run["clocks"] is clocked and run["times"] is clocked
(site,) = [s for s in run["call_sites"] if s["events"]]
assert site["function"] == "MPI_Recv" and site["in"] == "main" and site["file"].endswith("report_known.c") and site["line"] == int(sys.argv[3]), site
assert (site["calls"], site["matches"], site["sources"], site["out_of_order"], site["polls"], site["ranks"], site["chains"]) == (21, 21, 3, 0, 0, 4, 1), site
assert abs(site["entropy"] - 18 * math.log2(3) / 21) < 1e-5 and site["open"], site  # six of each of three; the other ranks had no choice
assert run["verdict"] == {"sites": 1, "open_sites": 1, "no_choice": False}
assert sorted(run["matrix"]["rows"]) == [[0, 1, 1], [0, 2, 1], [0, 3, 1], [1, 0, 6], [2, 0, 6], [3, 0, 6]], run["matrix"]
assert run["matrix"]["basis"] == ("clocks" if clocked else "matches")
assert run["composition"]["events"]["RECV"] == 21
line = run["timeline"]
ranks = [[dict(zip(line["columns"], row)) for row in rank] for rank in line["ranks"]]
for rank, moments in enumerate(ranks):
    assert [m["event"] for m in moments] == list(range(len(moments)))
    for m in moments:
        if not clocked:
            assert m["clock"] is None and m["time"] is None and m["send"] is None
            continue
        assert m["send"] == 0 if rank == 0 else m["send"] >= 0, m  # of rank 0 the clock jumped in the barrier: its sends may have been later
        assert m["clock"] > m["sent"] and m["time"] >= 0
    assert not clocked or all(a["time"] <= b["time"] for a, b in zip(moments, moments[1:]))
receives = [m for m in ranks[0] if m["kind"] == "RECV"]
for i, m in enumerate(receives):
    later = {other["source"] for other in receives[i + 1:]} - {m["source"]}
    if clocked:
        assert set(m["candidates"]) <= later
    else:
        assert set(m["candidates"]) == later
# With the barrier, all of them had been sent before the first was taken.
assert not clocked or set(receives[0]["candidates"]) == {1, 2, 3} - {receives[0]["source"]}, receives[0]
