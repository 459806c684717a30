# SPDX-License-Identifier: MIT
# Records of rows (raw, gzip, cdc) are written, verified, shown and recoded; what they need and what they cannot do is said.
tests=$(cd "$(dirname "$0")/.." && pwd)
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
app=("$build/apps/$mpi/particles" --size 20000 --steps 3)
REPRISE_CLOCKS=1 run 60 record "$reprise" record -o run "${launch[@]}" "${app[@]}"
[ "$status" -eq 0 ] || fail "record: exit status $status"
clocks=$("$reprise" dump run | grep -c ' CLOCK ')
[ "$clocks" -gt 0 ] || fail "no clocks"
size() { cat "$1"/*.log | wc -c; }
for codec in raw gzip cdc; do
    "$reprise" recode --codec $codec run >recode.out || fail "recode to $codec"
    "$reprise" verify run-$codec >/dev/null || fail "verify after recode to $codec"
    "$reprise" info run-$codec >info.out || fail "info of $codec"
    "$reprise" dump run-$codec >run-$codec.txt || fail "dump of $codec"
    "$reprise" dump --json run-$codec | python3 -c 'import json,sys; [json.loads(l) for l in sys.stdin]' || fail "dump --json of $codec"
    run 60 record "$reprise" record --codec $codec -o new-$codec "${launch[@]}" "${app[@]}"
    [ "$status" -eq 0 ] || fail "record --codec $codec: exit status $status"
    "$reprise" verify new-$codec >/dev/null || fail "verify of a record with $codec"
    grep -q "\"codec\": \"$codec\"" new-$codec/manifest.json || fail "the description does not say $codec"
done
# The messages of the tables are those of the events, site by site.
messages() { sed -E 's/.*site=([0-9]+).* sender=([0-9]+) clock=([0-9]+) index=([-0-9]+).*/\1 \2 \3 \4/' | sort -n; }
"$reprise" dump -r 1 run | grep ' CLOCK ' | messages >events.txt
grep '^1 .* MESSAGE ' run-raw.txt | messages | cmp -s - events.txt || fail "other messages in raw"
cmp -s run-raw.txt run-gzip.txt || fail "raw and gzip differ"
[ "$(awk '/ TABLE /{for (i = 1; i <= NF; i++) if ($i ~ /^messages=/) n += substr($i, 10)} END {print n}' run-cdc.txt)" -eq "$clocks" ] || fail "cdc has not all messages"
[ "$(size run-raw)" -gt "$(size run-gzip)" ] && [ "$(size run-gzip)" -gt "$(size run-cdc)" ] || fail "raw $(size run-raw), gzip $(size run-gzip), cdc $(size run-cdc) bytes"

"$reprise" recode --codec mix -o none run-cdc >refused.out 2>&1 && fail "rows were recoded"
grep -q 'leaves out' refused.out || fail "no reason why rows are not recoded"
"$reprise" record -o plain "${launch[@]}" "${app[@]}" >/dev/null 2>&1 || fail "record without clocks"
"$reprise" recode --codec cdc -o none plain >refused.out 2>&1 && fail "a record without clocks was recoded to cdc"
grep -q 'no clocks' refused.out || fail "no reason why clocks are needed"

# A record with clocks replays by its events, polls by site included.
run 60 replay "$reprise" replay run
[ "$status" -eq 0 ] || fail "replay: exit status $status"
