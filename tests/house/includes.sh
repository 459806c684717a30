# SPDX-License-Identifier: MIT
# The house stays as drawn: which folder may include which, and where mpi.h may appear. docs/design.md draws it.
cd "$(dirname "$0")/../.." || exit 1
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
rooms=
# No MPI.
may base
may job base
may event base job
may window base
may codec base event
may cdc/codec base event
may cdc/model base cdc/codec
may log base job event codec cdc/codec
may match base event
may recovery
may report base job event log cdc/codec
may cli base job event log match report codec cdc/codec
# What every preloaded library is made of, and what they offer each other.
may peers
may preload base
# Preloaded libraries.
may entry base job peers preload
may interpose base job peers preload entry
may engine base job event codec log match peers preload entry interpose
may cdc/replay base job event log peers preload entry engine cdc/codec cdc/model
may cdc/piggyback base peers preload
may partial base job event log peers preload window
may shmem base job peers window partial
may det base job event log match peers preload
may stress base job log preload
may blocking peers preload
may outputs base job log peers preload
may isendrecv base peers preload
may ft base job peers preload recovery
# What programs link, and the compiler's part.
may task base job log match
may cc base window
may program
[ "$(find src -name '*.[ch]' -printf '%h\n' | sed 's|^src/||' | sort -u | tr '\n' ' ')" = "$(tr ' ' '\n' <<<"$rooms" | sed '/^$/d' | sort -u | tr '\n' ' ')" ] || { echo "a folder of src has no line here, or the other way round"; bad=1; }
for file in $(grep -lE '#include <mpi.h>' -r --include='*.[ch]' src include apps tests); do
    case $file in
    src/peers/* | src/preload/* | src/entry/* | src/interpose/* | src/engine/* | src/cdc/replay/* | src/cdc/piggyback/* | src/det/* | src/stress/* | src/outputs/* | src/blocking/* | src/isendrecv/* | src/partial/* | src/ft/* | src/task/task_mpi.c | src/task/task_failures* | apps/* | tests/mpi/* | tests/shmem/* | tests/*/programs/*) ;;
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
