# SPDX-License-Identifier: MIT
"""usage: JSON DUMP: the report says what a count of all events says."""
import collections, json, math, sys
run = json.load(open(sys.argv[1]))["runs"][0]
polls, matches, late, pairs = collections.Counter(), collections.Counter(), collections.Counter(), collections.Counter()
sources, highest = collections.defaultdict(collections.Counter), collections.defaultdict(lambda: -1)
for text in open(sys.argv[2]):
    words = text.split()
    rank, kind, function, f = int(words[0]), words[2], words[3], dict(w.split("=", 1) for w in words[4:])
    place = function, f["at"]
    if kind == "NO":
        polls[place] += int(f["times"])
    if kind == "CLOCK":
        pairs[int(f["sender"]), rank] += 1
    if kind in ("RECV", "PROBE", "MATCH"):
        matches[place] += 1
        sources[place, rank][int(f["source"])] += 1
    if kind == "MATCH":
        late[place] += int(f["post"]) < highest[rank]
        highest[rank] = max(highest[rank], int(f["post"]))
assert {(a, b): n for a, b, n in run["matrix"]["rows"]} == pairs
for s in run["call_sites"]:
    place = s["function"], "%s:%d" % (s["file"], s["line"])
    assert (s["polls"], s["matches"], s["out_of_order"]) == (polls[place], matches[place], late[place]), s
    mine = [c for (p, _), c in sources.items() if p == place]
    assert s["sources"] == max(map(len, mine), default=0), s
    bits = sum(-n * math.log2(n / sum(c.values())) for c in mine for n in c.values())
    if matches[place]:
        assert abs(s["entropy"] - bits / matches[place]) < 1e-5, s
assert sum(matches.values()) > 100 and sum(polls.values()) > 0
