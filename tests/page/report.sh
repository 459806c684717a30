# SPDX-License-Identifier: MIT
# The page of a record in a browser: zoom, pan, filters, selections, axes, light and dark.
tests=$(cd "$(dirname "$0")/.." && pwd)
source "$tests/lib/common.sh"
"$reprise" report "$tests/golden/timed" -o timed.html >page.out || fail "report"
timeout 500 python3 "$tests/page/drive.py" report timed.html
