# SPDX-License-Identifier: MIT
# A million events of 64 ranks, and 1,024 ranks: opened in time, and used.
tests=$(cd "$(dirname "$0")/.." && pwd)
source "$tests/lib/common.sh"
command -v chromium >/dev/null && {
    "$build/tests/page/records" million 64 1000000 2 both && "$build/tests/page/records" wide 1024 200000 3 both || fail "records"
    for name in million wide; do "$reprise" report $name >page.out || fail "report $name"; done
}
timeout 900 python3 "$tests/page/drive.py" large million.html wide.html
