# SPDX-License-Identifier: MIT
# One-sided results that are in memory before the call that completes them: all ranks replayed alone load what they loaded, reprise solo reports it once a rank with the line, and --who still works.
here=$(realpath "$(dirname "$0")/..")
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
program=$build/tests/mpi/$mpi/solo_early

for copies in none cma; do # by which Open MPI chooses another way to read
    OMPI_MCA_btl_vader_single_copy_mechanism=$copies run 120 record "$reprise" record --ranks all -o "run-$copies" "${launch[@]}" "$program"
    [ "$status" -eq 0 ] || fail "$copies: record: exit status $status"
    run 120 replay "$reprise" replay "run-$copies"
    [ "$status" -eq 0 ] && grep -q 'each alone: identical$' replay.err || fail "$copies: replay: exit status $status"
    [ "$(sort replay.out)" = "$(sort record.out)" ] || fail "$copies: replay: another output"
done

early='the result of MPI_[A-Za-z_]* (.*solo_early.c:[0-9]*) was in memory before the call that completes it; a program must not read it before$'
for rank in 0 1; do
    run 120 alone "$reprise" solo -r "$rank" run-none
    [ "$status" -eq 0 ] || fail "rank $rank alone: exit status $status"
    [ "$(grep -c 'was in memory before' alone.err)" -le 1 ] || fail "rank $rank alone: said more than once"
    [ "$mpi" != openmpi ] || grep -q "^reprise: rank $rank: $early" alone.err || fail "rank $rank alone: not said that a result was early"
done
if [ "$mpi" = openmpi ]; then # the first that begins one, and loads it
    line=$(grep -n 'MPI_Fetch_and_op(&one, &result, MPI_LONG, target' "$here/mpi/solo/solo_early.c" | head -n 1 | cut -d: -f1)
    grep -q "MPI_Fetch_and_op (.*solo_early.c:$line)" alone.err || fail "another line than $line"
fi

run 120 who "$reprise" solo -r 0,1 --who run-none
[ "$status" -eq 0 ] && grep -q 'rank 1 replayed alone: .*: identical$' who.err || fail "solo --who: exit status $status"
run 120 dumped "$reprise" dump --who run-none
[ "$status" -eq 0 ] && [ "$(cat dumped.out)" = "$(grep -v '^rank\|^RESULT' who.out)" ] || fail "dump --who: something else than solo --who"

# Messages that were there before they were waited for are usual.
run 120 record "$reprise" record --ranks all -o messages "${launch[@]}" "$build/tests/mpi/$mpi/solo_early_messages"
[ "$status" -eq 0 ] || fail "messages: record: exit status $status"
run 120 alone "$reprise" solo -r 0,1 messages
[ "$status" -eq 0 ] && ! grep -q 'was in memory before' alone.err || fail "messages: exit status $status"
echo "results that arrive early on $mpi"
