# SPDX-License-Identifier: MIT
# Every file and folder that the glossary names is there.
cd "$(dirname "$0")/../.." || exit 1
bad=0 count=0
for path in $(grep -oE '`[A-Za-z_./]+`' docs/glossary.md | tr -d '`' | grep /); do
    count=$((count + 1))
    [ -e "$path" ] || { echo "docs/glossary.md names $path, which is not there"; bad=1; }
done
[ "$count" -gt 60 ] || { echo "only $count paths were found"; bad=1; }
exit $bad
