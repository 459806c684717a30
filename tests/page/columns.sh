# SPDX-License-Identifier: MIT
# What a page holds: the facts and events of the JSON report, and nothing of the record as text. No browser is needed.
tests=$(cd "$(dirname "$0")/.." && pwd)
source "$tests/lib/common.sh"
records=$build/tests/page/records
hostile='</script><img src=x onerror="owned=1">&amp;<!--'

same() { # RECORD...
    "$reprise" report "$@" -o page.html >page.out && "$reprise" report "$@" -o page.json || fail "report $*"
    python3 "$tests/page/columns.py" page.html page.json || fail "the page and the JSON of $* differ"
}

for manner in clocks times both none; do
    "$records" $manner 5 3000 7 $manner || fail "records"
    same $manner
done
same "$tests/golden/timed" "$tests/golden/killed" "$tests/golden/rows-raw"
same "$tests/golden/rows-cdc"
"$records" hostile 3 200 1 both "$hostile" || fail "records"
same hostile
grep -q 'owned=1' page.json || fail "the record does not have the hostile name"
! grep -q 'owned\|onerror' page.html || fail "something of the record stands in the page as text"
[ "$(grep -o '</script>' page.html | wc -l)" -eq 3 ] || fail "not three scripts"
! grep -Eq "(src|href)=[\"']?[^\"'d]|https?:" page.html || fail "the page names something outside"

# Where it is written.
run 60 report "$reprise" report both
[ "$status" -eq 0 ] && [ -s both.html ] && grep -q "^$work/both.html (.* MB)$" report.out && grep -q 'xdg-open both.html' report.out || fail "report both"
run 60 report "$reprise" report --format html -o odd both
[ "$status" -eq 0 ] && cmp -s odd both.html || fail "--format html -o odd"
run 60 report "$reprise" report both -o both.txt
[ "$status" -eq 0 ] && grep -q '^verdict' both.txt && [ ! -s report.out ] || fail "-o both.txt"
run 60 diff "$reprise" diff --html none clocks
[ "$status" -eq 1 ] && [ -s none-clocks.html ] && grep -q "^$work/none-clocks.html" diff.out || fail "diff --html"
run 60 diff "$reprise" diff none none -o same.html
[ "$status" -eq 0 ] && [ -s same.html ] || fail "diff -o same.html: status $status"
run 60 diff "$reprise" diff --html --json none none
[ "$status" -eq 120 ] || fail "diff --html --json: status $status"
run 60 report "$reprise" report both -o /nowhere/page.html
[ "$status" -eq 125 ] && grep -q 'cannot write' report.err || fail "no message about /nowhere"
echo "pages hold what the reports tell"
