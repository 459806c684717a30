# SPDX-License-Identifier: MIT
# The house stays as drawn: which room may include which (src/rooms.table), the order inside a room (its parts.table),
# and where mpi.h may appear. docs/design.md draws it. HOUSE names another tree to look at (tests/house/bad_trees.sh).
cd "${HOUSE:-$(dirname "$0")/../..}" || exit 1
bad=0
may() { # ROOM ALLOWED...: includes of src/ROOM are of itself or of these
    local room=$1 allowed
    shift
    allowed=$(printf '|%s' "$room" "$@")
    while IFS=: read -r file line text; do
        target=${text#*\"}
        target=${target%/*}
        [[ "|$target|" =~ ^\|(${allowed#|})\|$ ]] || { echo "$file:$line includes $text"; bad=1; }
    done < <(grep -nE '#include "[a-z]+/' "src/$room"/*.[ch])
    rooms+=" $room"
}
rooms= above=
while IFS='|' read -r room allowed _; do
    room=${room% }
    for lower in $allowed; do
        [[ " $above " == *" $lower "* ]] || { echo "src/rooms.table: $room stands below $lower, which it may include"; bad=1; }
    done
    may "$room" $allowed
    above+=" $room"
done < <(grep -v '^#' src/rooms.table)
[ "$(find src -name '*.[ch]' -printf '%h\n' | sed 's|^src/||' | sort -u | tr '\n' ' ')" = "$(tr ' ' '\n' <<<"$rooms" | sed '/^$/d' | sort -u | tr '\n' ' ')" ] || { echo "a folder of src has no line in src/rooms.table, or the other way round"; bad=1; }
# docs/design.md has the same table.
table=$(sed -n '/^#/d; s/^\([^|]*\) | *\([^|]*\)| \(.*\)/| `src\/\1` | \3 | \2|/p' src/rooms.table)
[[ $(<docs/design.md) == *"$table"* ]] || { echo "docs/design.md does not have this table:"; echo "$table"; bad=1; }
# A file includes headers of its own room only of its own part or of parts above it in the room's parts.table.
# No .c file of such a room declares what another file defines.
for table in $(find src -name parts.table); do
    folder=${table%/parts.table}
    awk -v table="$table" -v room="${folder#src/}" -f tests/house/parts.awk "$table" \
        $(find "$folder" -maxdepth 1 -name '*.[ch]' -o -maxdepth 1 -name '*.cc' | sort) || bad=1
done
for file in $(grep -lE '#include <mpi.h>' -r --include='*.[ch]' src include apps tests); do
    case $file in
    src/peers/* | src/preload/* | src/entry/* | src/interpose/* | src/engine/* | src/cdc/replay/* | src/cdc/piggyback/* | src/det/* | src/stress/* | src/outputs/* | src/blocking/* | src/compound/* | src/partial/* | src/ft/* | src/task/task_mpi* | src/task/task_failures* | src/recovery/ulfm.h | apps/* | tests/mpi/* | tests/shmem/* | tests/*/programs/*) ;;
    *) echo "$file includes mpi.h"; bad=1 ;;
    esac
done
# Modes never include each other.
grep -nE '#include "engine/replay' src/engine/record*.[ch] && bad=1
grep -nE '#include "engine/record' src/engine/replay*.[ch] && bad=1
grep -nE '#include "engine/(record|replay)' src/cdc/replay/*.[ch] && bad=1
names=$(find src apps bench tests/*/programs -name '*.[ch]' -printf '%f\n' | sort | uniq -d)
[ -z "$names" ] || { echo "file names that are not unique: $names"; bad=1; }
exit $bad
