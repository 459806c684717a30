# SPDX-License-Identifier: MIT
# What clocks cannot tell (docs/model.md): a replay in which all ranks wait for each other ends by itself and says so; the same run is replayed by raw.
source "$(dirname "$0")/../lib/common.sh"
program=$build/tests/mpi/$1/probe_then_send
[ -x "$program" ] || { echo "skipped: not built"; exit 77; }
launcher "$1" 3
for codec in raw cdc; do
    run 60 record "$reprise" record --codec $codec -o $codec "${launch[@]}" "$program"
    [ "$status" -eq 0 ] || fail "record by $codec: exit status $status"
    run 100 replay.$codec "$reprise" replay --stall 2 $codec
    grep -q "all ranks wait for messages that do not come" "$work/replay.$codec.err" && said=yes || said=no
    echo "$codec: exit status $status, stuck: $said"
    [ "$codec $status $said" = "raw 0 no" ] || [ "$codec $status $said" = "cdc 121 yes" ] || fail "$codec: exit status $status, stuck: $said"
done
