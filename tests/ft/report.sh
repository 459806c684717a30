# SPDX-License-Identifier: MIT
# What happened is kept and told: each failure, its detection, the replacement, when it had caught up, how long the others were idle. Damaged events are refused by name.
source "$(dirname "$0")/../lib/ft.sh"
jacobi=("$apps/jacobi" --size 30 --edge 40)
expect jacobi 4 -- "${jacobi[@]}"
survive killed 2 4 -o kept --spares 2 --kill 1@13:2,3@25 -- "${jacobi[@]}"
"$reprise" report --format json kept >report.json || fail "json: exit status $?"
python3 "$programs/ft_report_recoveries.py" report.json || fail "the recoveries are not what happened: $(cat report.json)"
"$reprise" report --format text kept >report.txt || fail "text: exit status $?"
grep -q 'rank 1 has caught up' report.txt && grep -q 'idle: rank 0' report.txt || fail "text: $(cat report.txt)"
"$reprise" report -o report.html kept || fail "html: exit status $?"
[ "$(grep -c '<svg' report.html)" -eq 2 ] && ! grep -q '<script' report.html || fail "html: not two pictures, or a script"
mkdir damaged
sed '3s/"time"/"tame"/' kept/events.jsonl >damaged/events.jsonl
"$reprise" report --format text damaged >damaged.txt 2>damaged.err
[ $? -eq 122 ] && grep -q "events.jsonl, line 3" damaged.err || fail "a damaged line: $(cat damaged.err)"
sed '3s/"rank": [-0-9]*/"rank": 1238875214/' kept/events.jsonl >damaged/events.jsonl
"$reprise" report --format html damaged >damaged.out 2>damaged.err
[ $? -eq 122 ] && grep -q "events.jsonl, line 3: 1238875214 is no rank" damaged.err || fail "a rank that is none: $(cat damaged.err)"
