# SPDX-License-Identifier: MIT
# The page of two records: both timelines, the divergences of the JSON, and their selection.
tests=$(cd "$(dirname "$0")/.." && pwd)
source "$tests/lib/common.sh"
for seed in 1 2; do "$build/tests/page/records" run-$seed 4 2000 $seed clocks || fail "records"; done
"$reprise" diff run-1 run-2 -o diff.html >page.out
[ $? -eq 1 ] || fail "diff"
"$reprise" diff run-1 run-2 --json >diff.json
"$reprise" diff run-1 run-1 --html -o same.html >page.out || fail "diff of the same"
timeout 500 python3 "$tests/page/drive.py" diff diff.html diff.json same.html
