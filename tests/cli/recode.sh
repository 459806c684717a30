# SPDX-License-Identifier: MIT
# A record that is written again with another codec has the same events and replays the same; one without an end keeps none. Codecs and the encoder are chosen by name.
tests=$(cd "$(dirname "$0")/.." && pwd)
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
app=("$build/apps/$mpi/particles" --size 20000 --steps 3)
run 60 record "$reprise" record -o run "${launch[@]}" "${app[@]}"
[ "$status" -eq 0 ] || fail "record: exit status $status"
recorded=$(result record)

dumped() { "$reprise" dump "$1" >"$1.txt" || fail "dump $1"; }
size() { cat "$1"/*.log | wc -c; }
dumped run
"$reprise" recode --codec tables run >recode.out || fail "recode to tables"
dumped run-tables
"$reprise" recode --codec mix -o again run-tables >recode.out || fail "recode to mix"
dumped again
cmp -s run.txt run-tables.txt && cmp -s run.txt again.txt || fail "other events after recode"
[ "$(size run-tables)" -gt $((2 * $(size run))) ] || fail "tables takes $(size run-tables) bytes, mix $(size run)"
for record in run-tables again; do
    "$reprise" verify "$record" >/dev/null || fail "verify $record"
    run 60 replay "$reprise" replay "$record"
    [ "$status" -eq 0 ] && [ "$(result replay)" = "$recorded" ] || fail "replay $record: exit status $status"
done

"$reprise" recode --codec tables run >refused.out 2>&1 && fail "an existing record was written over"
"$reprise" recode --codec no-such run >refused.out 2>&1
[ $? -eq 120 ] && grep -q 'mix, tables' refused.out || fail "another codec"

for options in '--codec tables' '--encoder off' '--codec tables --encoder off'; do
    rm -rf chosen
    run 60 record "$reprise" record $options -o chosen "${launch[@]}" "${app[@]}"
    [ "$status" -eq 0 ] || fail "record $options: exit status $status"
    recorded=$(result record)
    run 60 replay "$reprise" replay chosen
    [ "$status" -eq 0 ] && [ "$(result replay)" = "$recorded" ] || fail "replay after $options: exit status $status"
done
run 60 record "$reprise" record --codec zip -o none "${launch[@]}" "${app[@]}"
[ "$status" -eq 120 ] || fail "record --codec zip: exit status $status"
run 60 record "$reprise" record --encoder maybe -o none "${launch[@]}" "${app[@]}"
[ "$status" -eq 120 ] || fail "record --encoder maybe: exit status $status"

# A killed run
"$reprise" recode --codec tables -o killed "$tests/golden/killed" >recode.out || fail "recode of a record without an end"
"$reprise" dump "$tests/golden/killed" >killed.txt
"$reprise" dump killed | cmp -s - killed.txt || fail "other events of a killed run"
"$reprise" verify killed | grep -q incomplete || fail "a killed run is complete after recode"
