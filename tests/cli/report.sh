# SPDX-License-Identifier: MIT
# report and export: what they say of real programs is what a count of all events says; lines are those of the source; times and clocks fit together; hostile names; wrong commands.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4

# Line 18 receives from whoever sends: on rank 0 from three others, six times each; on the others from rank 0 alone.
cat >program.c <<'END'
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, value = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; rank > 0 && i < 6; i++)
        MPI_Send(&i, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++)
        MPI_Send(&i, 1, MPI_INT, i, 6, MPI_COMM_WORLD);
    int receives = rank == 0 ? 6 * (size - 1) : 1;
    for (int i = 0; i < receives; i++) {
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    }
    MPI_Finalize();
    return 0;
}
END
"mpicc.$mpi" -g -O1 -o program program.c || fail "mpicc.$mpi"
for options in '' '--clocks --timestamps'; do
    rm -rf run
    run 60 record "$reprise" record $options -o run "${launch[@]}" ./program
    [ "$status" -eq 0 ] || fail "record $options: $status"
    "$reprise" report run --format json -o run.json || fail "report"
    python3 - run.json "$options" <<'END' || fail "the report of a program with known messages, recorded with '$options'"
import json, math, sys
report, clocked = json.load(open(sys.argv[1])), bool(sys.argv[2])
assert (report["format"], report["major"], len(report["runs"])) == ("reprise-report", 1, 1)
run = report["runs"][0]
assert run["clocks"] is clocked and run["times"] is clocked
(site,) = [s for s in run["call_sites"] if s["events"]]
assert site["function"] == "MPI_Recv" and site["in"] == "main" and site["file"].endswith("program.c") and site["line"] == 18, site
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
END
done
"$reprise" report run -o text.txt && mv text.txt text.out || fail "report as text"
grep -q 'MPI had a choice at 1 of 1 call sites' text.out && grep -q ' MPI_Recv in main at .*program.c:18$' text.out || fail "report as text"
"$reprise" report run run --format json | python3 -c 'import json, sys; assert len(json.load(sys.stdin)["runs"]) == 2' || fail "two reports"

# Arrows: of every message that was received, sent before.
"$reprise" export --perfetto run -o trace.json 2>export.err || fail "export"
[ ! -s export.err ] || fail "export has something to say"
arrows='
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
starts = {e["id"]: e for e in events if e["ph"] == "s"}
ends = {e["id"]: e for e in events if e["ph"] == "f"}
assert starts.keys() == ends.keys() and len(starts) == int(sys.argv[2]), (len(starts), len(ends))
assert all(starts[i]["ts"] <= ends[i]["ts"] + 0.1 * len(starts) for i in starts)
slices = {}
for e in events:
    if e["ph"] == "X":
        slices.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
for track in slices.values():
    assert all(a[1] <= b[0] + 1e-6 for a, b in zip(track, track[1:])), "slices of a track overlap"
'
python3 -c "$arrows" trace.json 21 || fail "arrows of a program with known messages"
run 60 record "$reprise" record --clocks --timestamps -o large "${launch[@]}" "$build/apps/$mpi/treesearch" --size 3000
[ "$status" -eq 0 ] || fail "record treesearch: $status"
"$reprise" export --perfetto large -o large.json || fail "export"
python3 -c "$arrows" large.json "$("$reprise" dump large | grep -c ' CLOCK ')" || fail "arrows of treesearch"
run 60 replay "$reprise" replay large
[ "$status" -eq 0 ] || fail "a record with times and clocks is replayed: $status"
rm -rf plain
run 60 record "$reprise" record -o plain "${launch[@]}" ./program
"$reprise" export --perfetto plain -o plain.json 2>export.err && grep -q 'without arrows' export.err && python3 -c "$arrows" plain.json 0 || fail "export without clocks"

# The counts of call sites are those of the events, added up here once more.
"$reprise" report large --format json -o large.report || fail "report treesearch"
"$reprise" dump large >large.txt || fail "dump treesearch"
python3 - large.report large.txt <<'END' || fail "the report of treesearch and the count of its events differ"
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
END

# Names that would end a string, a line or a script.
odd=$'we"ird \\ </script>\t\xff'
mkdir -p "$odd" && cp program "$odd/a'p\"p" || fail "odd names"
run 60 record "$reprise" record -o "$odd/run" "${launch[@]}" "$odd/a'p\"p" '"},<!--'
[ "$status" -eq 0 ] || fail "record of odd names: $status"
for command in 'report --format json' 'export --perfetto' 'report --format text'; do
    "$reprise" $command "$odd/run" >odd.out 2>odd.err || fail "$command of odd names"
    [[ $command = *text ]] || python3 -c 'import json, sys; json.loads(open(sys.argv[1], encoding="utf-8").read())' odd.out || fail "$command of odd names is no JSON"
done
"$reprise" report --format json "$odd/run" | python3 -c '
import json, sys
run = json.load(sys.stdin)["runs"][0]
assert run["command"][-1] == "\"},<!--" and run["program"].endswith("we\"ird \\ </script>\t\ufffd/a\x27p\"p"), run["program"]' || fail "odd names are not told as they are"

# Wrong commands
refuses 120 'there are html, text and json' "$reprise" report --format pdf run
refuses 120 "no record 'nothing'" "$reprise" report nothing
refuses 120 "unknown option '--colour'" "$reprise" report run --colour
refuses 125 'cannot write' "$reprise" report run -o /nowhere/report
refuses 120 'one of --perfetto and --otf2' "$reprise" export run
refuses 120 'one of --perfetto and --otf2' "$reprise" export --perfetto --otf2 run
refuses 120 '-o says which' "$reprise" export --otf2 run
refuses 120 'mix and tables do' "$reprise" record --timestamps --codec cdc "${launch[@]}" ./program
if command -v otf2-print >/dev/null && "$reprise" export --otf2 run -o archive; then
    [ "$(otf2-print archive/traces.otf2 | grep -c '^MPI_RECV')" -eq 21 ] && [ "$(otf2-print archive/traces.otf2 | grep -c '^MPI_SEND')" -eq 21 ] || fail "OTF2: not 21 messages"
else
    refuses 123 'without OTF2' "$reprise" export --otf2 run -o archive
fi
cp -a run broken && damage broken/rank-00000.log 150
refuses 122 'rank 0: .*at byte' "$reprise" report broken
refuses 122 'rank 0: .*at byte' "$reprise" export --perfetto broken
run 60 record "$reprise" record --codec cdc -o rows "${launch[@]}" ./program
[ "$status" -eq 0 ] && "$reprise" report --format text rows | grep -q 'verdict   not known' || fail "report of rows"
refuses 120 'holds rows' "$reprise" export --perfetto rows
echo "reports on $mpi"
