# SPDX-License-Identifier: MIT
# Names in a record, and the record's own, that would run if the page took them for markup.
tests=$(cd "$(dirname "$0")/.." && pwd)
source "$tests/lib/common.sh"
hostile='</script><img src=x onerror="window.owned=1">${owned=1}&amp;<!--'
folder='"><img src=x onerror=window.owned=1>'
"$build/tests/page/records" "$folder" 3 200 1 both "$hostile" || fail "records"
"$reprise" report "$folder" -o hostile.html >page.out || fail "report"
timeout 500 python3 "$tests/page/drive.py" hostile hostile.html "$hostile"
