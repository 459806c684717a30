# SPDX-License-Identifier: MIT
# Programs of tasks: verified against a serial computation in every mode; recorded with as many determinants as the algebra says; replayed the same, shuffled too; a wrong annotation is named.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
apps=$build/apps/$mpi
launcher "$mpi" 3

told() { sed -nE "s/.* ([0-9]+) determinants \(by the algebra: ([0-9]+)\).*/\1 \2/p" "$work/$1.err"; }
messages() { sed -nE 's/.*tasks: .* ([0-9]+) messages of.*/\1/p' "$work/$1.err"; }

for app in leanmd stencil3d hydro amgexchange; do
    run 60 plain "${launch[@]}" "$apps/$app"
    [ "$status" -eq 0 ] && result plain | grep -q verified=yes || fail "$app: exit status $status"
    run 60 record "$reprise" record --tasks -o "$app" "${launch[@]}" "$apps/$app"
    [ "$status" -eq 0 ] && [ "$(told record)" = "0 0" ] || fail "$app: recorded with '$(told record)' determinants, exit status $status"
    [ "$(result record)" = "$(result plain)" ] || fail "$app: another result when recorded"
done
run 60 shuffled env REPRISE_SHUFFLE=5 "$reprise" replay leanmd
[ "$status" -eq 0 ] && grep -q ': identical' shuffled.err || fail "leanmd, shuffled: exit status $status"
for mode in partial full; do
    export REPRISE_TASKS=$mode
    run 60 $mode "${launch[@]}" "$apps/hydro"
    unset REPRISE_TASKS
    [ "$status" -eq 0 ] && result $mode | grep -q verified=yes || fail "hydro, $mode: exit status $status"
done
[ "$(told partial)" = "0 0" ] || fail "hydro, partial: '$(told partial)' determinants"
[ "$(told full)" = "$(messages full) $(messages full)" ] || fail "hydro, full: '$(told full)' determinants for $(messages full) messages"

# The master: one less than there are questions (units, and one more of each worker). Workers: none.
run 60 record "$reprise" record --tasks -o workers "${launch[@]}" "$apps/workers" --size 150 --workers 9
[ "$status" -eq 0 ] && [ "$(told record)" = "158 158" ] || fail "workers: '$(told record)' determinants, exit status $status"
for shuffle in '' --shuffle; do
    run 60 replay "$reprise" replay workers $shuffle
    [ "$status" -eq 0 ] && grep -q ': identical' replay.err && [ "$(result replay)" = "$(result record)" ] || fail "workers, replay $shuffle: exit status $status"
done

export REPRISE_TASKS=partial
run 60 partial "${launch[@]}" "$apps/workers" --size 150 --workers 9
unset REPRISE_TASKS
[ "$status" -eq 0 ] && [ "$(told partial)" = "158 158" ] || fail "workers, partial: '$(told partial)' determinants, exit status $status"

# A process is killed: what was recorded until then is followed.
run 60 crash env REPRISE_TASKS_KILL=0@100 "$reprise" record --tasks -o crash "${launch[@]}" "$apps/workers" --size 150 --workers 9
[ "$status" -ne 0 ] && [ -e crash/tasks-00000.journal ] && [ ! -e crash/tasks-00000 ] || fail "a crash: exit status $status"
run 60 replay "$reprise" replay crash
[ "$status" -eq 0 ] && grep -q ': the same, as far as the record goes' replay.err || fail "the replay of a crash: exit status $status"

# What is declared to commute, and does not, is named.
run 60 record "$reprise" record --tasks -o careless "${launch[@]}" "$apps/amgexchange" --careless 1
[ "$status" -eq 0 ] || fail "careless: exit status $status"
run 60 shuffled env REPRISE_SHUFFLE=3 "$reprise" replay --shuffle careless
[ "$status" -eq 121 ] && grep -q "entry 'question' of node: its messages do not commute" shuffled.err || fail "careless, shuffled: exit status $status"

# Records that cannot be followed.
damage workers/tasks-00000 40
run 60 damaged "$reprise" replay workers
[ "$status" -eq 122 ] && grep -q 'tasks-00000: its checksum is wrong' damaged.err || fail "a damaged record: exit status $status"
launcher "$mpi" 2
run 60 other "$reprise" replay hydro -- "${launch[@]}" "$apps/hydro"
[ "$status" -eq 120 ] && grep -q 'on 3 processes, and this one has .* on 2' other.err || fail "another number of processes: exit status $status"
run 60 none "$reprise" record --tasks -o none "${launch[@]}" "$apps/ep"
[ "$status" -eq 123 ] && [ ! -e none ] || fail "no program of tasks: exit status $status"
