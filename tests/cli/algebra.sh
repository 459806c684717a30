# SPDX-License-Identifier: MIT
# reprise algebra: counts, steps, JSON, and what cannot be read.
source "$(dirname "$0")/../lib/common.sh"
"$reprise" algebra 'interleave(O(5,0), U(3,0)) ; C(100)' >out || fail "the example is refused"
grep -q '^dependencies  7$' out && grep -q '^determinants  6 ' out && grep -q 'U(3,0) = O(3,2)' out || fail "$(cat out)"
"$reprise" algebra -q 'U(400,0)' | grep -q = && fail "-q prints steps"
"$reprise" algebra --json 'loop(10, D(1) -> C(26))' | python3 -c 'import json, sys; d = json.load(sys.stdin); sys.exit(d["messages"] != 270 or d["determinants"] != 0)' || fail "JSON"
"$reprise" algebra 'U(3' >out 2>err
[ $? -eq 120 ] && [ ! -s out ] && grep -q "character 4" err || fail "an expression without an end: $(cat out err)"
"$reprise" algebra 2>/dev/null
[ $? -eq 120 ] || fail "no expression"
