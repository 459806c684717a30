# SPDX-License-Identifier: MIT
# report and export: what they say of real programs is what a count of all events says; lines are those of the source; times and clocks fit together; hostile names; wrong commands.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4

# Line 18 receives from whoever sends: on rank 0 from three others, six times each; on the others from rank 0 alone.
"mpicc.$mpi" -g -O1 -o program "$programs/report_known.c" || fail "mpicc.$mpi"
receive=$(line_of receive "$programs/report_known.c")
for options in '' '--clocks --timestamps'; do
    rm -rf run
    run 60 record "$reprise" record $options -o run "${launch[@]}" ./program
    [ "$status" -eq 0 ] || fail "record $options: $status"
    "$reprise" report run --format json -o run.json || fail "report"
    python3 "$programs/report_known.py" run.json "$options" "$receive" || fail "the report of a program with known messages, recorded with '$options'"
done
"$reprise" report run -o text.txt && mv text.txt text.out || fail "report as text"
grep -q 'MPI had a choice at 1 of 1 call sites' text.out && grep -q " MPI_Recv in main at .*report_known.c:$receive\$" text.out || fail "report as text"
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
python3 "$programs/report_counts.py" large.report large.txt || fail "the report of treesearch and the count of its events differ"

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
