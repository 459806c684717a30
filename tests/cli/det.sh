# SPDX-License-Identifier: MIT
# reprise det: options, launch orders, recording, fixed reductions, what is refused.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/common.sh"
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

# Bytes may have a unit; neither of these changes what is decided by messages as short as the program's.
run 60 units "$reprise" det --check --buffer 1M --threshold 64k "${launch[@]}" "$app" --size 300
[ "$status" -eq 0 ] && [ "$(digest units)" = "$(digest outside)" ] || fail "--buffer 1M --threshold 64k: $status"

# Digests are kept and compared.
for name in kept again; do
    run 60 $name "$reprise" det --check -o $name "${launch[@]}" "$app" --size 300
    [ "$status" -eq 0 ] && [ "$(digest $name)" = "$(digest outside)" ] || fail "-o: $status"
done
run 60 other "$reprise" det --check --latency 50000 -o other "${launch[@]}" "$app" --size 300
run 20 alike "$reprise" diff kept again
[ "$status" -eq 0 ] && grep -q 'no difference: the same decisions on 4 ranks' "$work/alike.out" || fail "diff of equals: $status"
run 20 apart "$reprise" diff kept other
[ "$status" -eq 1 ] && grep -q 'of 4 ranks decided differently' "$work/apart.out" && grep -q "^  $work/other: .* digest" "$work/apart.out" || fail "diff of others: $status"
run 20 wrong "$reprise" diff --json kept again
[ "$status" -eq 120 ] || fail "diff --json of digests: $status"
run 20 wrong "$reprise" det --check -o kept "${launch[@]}" "$app"
[ "$status" -eq 120 ] && grep -q 'nothing is ever overwritten' "$work/wrong.err" || fail "-o over another: $status"

# What is not entered does not run in silence, and nothing stays behind. (MPICH's launcher dies of SIGPIPE now and then where ranks end at once.)
for options in "" "--check" "--check -o none"; do
    [ "$mpi" != abi ] || options="--mpi abi $options"
    run 20 none "$reprise" det $options "${launch[@]}" sh -c 'ls -d /; sleep 0.3'
    [ "$status" -eq 123 ] && grep -q 'nothing was made deterministic: no process of' "$work/none.err" || fail "det $options of no MPI program: $status"
done
[ ! -e none ] || fail "a directory stays of a program that was not entered"
scripts=(--mpi "$mpi")
[ "$mpi" = abi ] || scripts=()
run 20 none "$reprise" det "${scripts[@]}" "${launch[@]}" sh -c 'exit 3'
[ "$status" -eq 3 ] && grep -q 'nothing was made deterministic' "$work/none.err" || fail "det of a shell: $status"
[ ! -e .reprise ] || fail "left behind: $(ls -d .reprise .reprise/*)"
mkdir .reprise
run 60 quiet "$reprise" det "${launch[@]}" "$app" --size 300
[ "$status" -eq 0 ] && [ -d .reprise ] && [ -z "$(ls .reprise)" ] || fail "left in .reprise: $(ls .reprise)"
rmdir .reprise

# By the environment alone.
run 60 environment bash -c 'eval "$(REPRISE_CHECK=1 "$0" env det "${@: -1}")" && shift && "${@:1:3}" "${@: -1}" --size 300' "$reprise" x "${launch[@]}" "$app"
[ "$status" -eq 0 ] && [ "$(digest environment)" = "$(digest outside)" ] || fail "env det: $status"
run 20 wrong "$reprise" env deterministic "$app"
[ "$status" -eq 120 ] && grep -q "'record', 'replay' or 'det' is expected" "$work/wrong.err" || fail "env deterministic: $status"

# A record of a deterministic run is one like any other, and the same each time; it decides what it decides without.
for name in one two; do
    run 60 $name "$reprise" det --check --record -o $name "${launch[@]}" "$app" --size 300
    [ "$status" -eq 0 ] && grep -q "recorded [1-9][0-9]* events" "$work/$name.err" || fail "det --record: $status"
    [ "$(digest $name)" = "$(digest outside)" ] || fail "it decides otherwise when it is recorded: $(digest $name)"
    "$reprise" info $name | awk '/finished/ {print $1, $2, $3, $6}' >"$work/$name.digests"
done
[ -s "$work/one.digests" ] && cmp -s "$work/one.digests" "$work/two.digests" || fail "two records differ"
run 60 same "$reprise" diff one two
[ "$status" -eq 0 ] && grep -q 'no difference: [1-9][0-9]* events on 4 ranks' "$work/same.out" || fail "diff of two records: $status"
run 20 wrong "$reprise" diff kept one
[ "$status" -eq 120 ] && grep -q 'of one kind' "$work/wrong.err" || fail "diff of digests and a record: $status"
run 60 replay "$reprise" replay one
[ "$status" -eq 0 ] && [ "$(result replay)" = "$(result one)" ] || fail "replay of a deterministic run: $status"

launcher "$mpi" 5
run 60 fixed "$reprise" det --reductions fixed "${launch[@]}" "$build/tests/mpi/$mpi/reductions_fixed"
[ "$status" -eq 0 ] || fail "--reductions fixed: $status"

run 20 wrong "$reprise" det --reductions no "${launch[@]}" "$app"
[ "$status" -eq 120 ] && grep -q 'reductions no' "$work/wrong.err" || fail "--reductions no: $status"
run 20 wrong "$reprise" det --latency 0 "${launch[@]}" "$app"
[ "$status" -eq 120 ] && grep -q -e '--latency 0' "$work/wrong.err" || fail "--latency 0: $status"
for wrong in "--buffer 16X" "--buffer -1" "--threshold 1.5k" "--threshold k"; do
    run 20 wrong "$reprise" det $wrong "${launch[@]}" "$app"
    [ "$status" -eq 120 ] && grep -qF -- "$wrong: a number of bytes is expected" "$work/wrong.err" || fail "$wrong: $status"
done
REPRISE_BUFFER=16X run 20 wrong "$reprise" det "${launch[@]}" "$app"
[ "$status" -eq 120 ] && grep -q 'REPRISE_BUFFER=16X' "$work/wrong.err" || fail "REPRISE_BUFFER=16X: $status"
run 20 wrong "$reprise" det -o somewhere "${launch[@]}" "$app"
[ "$status" -eq 120 ] && [ ! -e somewhere ] || fail "-o without --check and --record: $status"
run 20 wrong "$reprise" det
[ "$status" -eq 120 ] || fail "no command: $status"
echo "det on $mpi: $(digest outside)"

# What reprise found stands above the status of the launcher.
launcher "$mpi" "$(headers "$here/../mpi/deadlock/ring_of_receives.c" ranks)"
for options in "" "--record -o ring"; do
    run 60 ring "$reprise" det $options bash -c '"$@"; exit 3' launch "${launch[@]}" "$build/tests/mpi/$mpi/ring_of_receives"
    [ "$status" -eq 119 ] && grep -q 'error: deadlock in MPI_Recv' "$work/ring.err" || fail "det $options: a deadlock under a launcher that ends with 3: $status"
done
