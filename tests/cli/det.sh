# SPDX-License-Identifier: MIT
# reprise det: options, launch orders, recording, fixed reductions, what is refused.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
app=$build/apps/$mpi/particles
launcher "$mpi" 4
digest() { grep -ho 'deterministic: .*' "$work/$1.err"; }

run 60 outside "$reprise" det --check "${launch[@]}" "$app" --size 300
[ "$status" -eq 0 ] && [[ $(digest outside) = *digest* ]] || fail "outside: $status"
run 60 inside "${launch[@]}" "$reprise" det --check "$app" --size 300
[ "$status" -eq 0 ] && [ "$(digest inside)" = "$(digest outside)" ] || fail "the other launch order decides otherwise"
[ "$(result inside)" = "$(result outside)" ] || fail "the other launch order gives another result"
run 60 quiet "$reprise" det "${launch[@]}" "$app" --size 300
[ "$status" -eq 0 ] && [ ! -s "$work/quiet.err" ] || fail "words without --check"
run 60 slower "$reprise" det --check --latency 50000 "${launch[@]}" "$app" --size 300
[ "$status" -eq 0 ] && [ "$(digest slower)" != "$(digest outside)" ] || fail "--latency has no effect"

# A record of a deterministic run is one like any other, and the same each time.
for name in one two; do
    run 60 $name "$reprise" det --record -o $name "${launch[@]}" "$app" --size 300
    [ "$status" -eq 0 ] && grep -q "recorded [1-9][0-9]* events" "$work/$name.err" || fail "det --record: $status"
    "$reprise" info $name | awk '/finished/ {print $1, $2, $3, $6}' >"$work/$name.digests"
done
[ -s "$work/one.digests" ] && cmp -s "$work/one.digests" "$work/two.digests" || fail "two records differ"
run 60 replay "$reprise" replay one
[ "$status" -eq 0 ] && [ "$(result replay)" = "$(result one)" ] || fail "replay of a deterministic run: $status"

launcher "$mpi" 5
run 60 fixed "$reprise" det --reductions fixed "${launch[@]}" "$build/tests/mpi/$mpi/reductions_fixed"
[ "$status" -eq 0 ] || fail "--reductions fixed: $status"

run 20 wrong "$reprise" det --reductions no "${launch[@]}" "$app"
[ "$status" -eq 120 ] && grep -q 'reductions no' "$work/wrong.err" || fail "--reductions no: $status"
run 20 wrong "$reprise" det --latency 0 "${launch[@]}" "$app"
[ "$status" -eq 120 ] && grep -q LATENCY "$work/wrong.err" || fail "--latency 0: $status"
run 20 wrong "$reprise" det -o somewhere "${launch[@]}" "$app"
[ "$status" -eq 120 ] || fail "-o without --record: $status"
run 20 wrong "$reprise" det
[ "$status" -eq 120 ] || fail "no command: $status"
echo "det on $mpi: $(digest outside)"
