# SPDX-License-Identifier: MIT
# The clocks of a record are those that the program keeps by itself (Definition 4 of Clock Delta Compression), receive by receive; an ordinary record has none.
mpi=$1
source "$(dirname "$0")/../lib/common.sh"
program=$build/tests/mpi/$mpi/envelope_lamport
launcher "$mpi" 4
TEST_TOLD=$work/told REPRISE_CLOCKS=1 run 60 record "$reprise" record -o run "${launch[@]}" "$program"
[ "$status" -eq 0 ] || fail "record: exit status $status"
"$reprise" dump run | grep ' CLOCK ' | sed -E 's/^([0-9]+) .* (sender=.* index=[-0-9]+).*/\1 \2/' >recorded.out
cat told.0 told.1 told.2 told.3 >told.out
[ -s told.out ] || fail "the program told nothing"
diff told.out recorded.out >diff.out || fail "the clocks of the record are not the program's"
run 60 plain "$reprise" record -o plain "${launch[@]}" "$program"
[ "$status" -eq 0 ] || fail "record without clocks: exit status $status"
"$reprise" dump plain | grep -q ' CLOCK ' && fail "an ordinary record has clocks"
echo "$(wc -l <told.out) clocks agree"
