# SPDX-License-Identifier: MIT
# reprise replay of a program with one-sided communication: all ranks, each alone; what it says if it cannot; and how many bytes of data were recorded.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
program=("$build/apps/$mpi/hashtable" --size 60 --slots 256 --seed 3)
run 60 without "$reprise" record --ranks none -o without "${launch[@]}" "${program[@]}"
[ "$status" -eq 123 ] && grep -q "MPI_Win_allocate cannot be replayed yet.*record --ranks all" without.err || fail "without data: exit status $status"

run 60 without "$reprise" record --ranks all -o shared "${launch[@]}" "$build/tests/mpi/$mpi/solo_shared"
[ "$status" -eq 123 ] && grep -q "MPI_Win_allocate_shared.*'--allow MPI_Win_allocate_shared' records it" without.err || fail "shared: exit status $status"

run 60 record "$reprise" record --ranks all -o run "${launch[@]}" "${program[@]}"
[ "$status" -eq 0 ] || fail "record: exit status $status"
bytes=$(cat run/*.data | wc -c)
grep -q "and $bytes bytes of data, in " record.err || fail "the summary does not tell of $bytes bytes of data"
"$reprise" info run | grep -q "^data *$bytes bytes, of 3 ranks: 0-2\$" || fail "info does not tell of $bytes bytes of data"
run 60 inside "${launch[@]}" "$reprise" record --ranks 1 -o inside "${program[@]}"
[ "$status" -eq 0 ] && grep -q "and $(cat inside/*.data | wc -c) bytes of data, in " inside.err || fail "recorded inside: exit status $status"

run 60 replay "$reprise" replay run
[ "$status" -eq 0 ] || fail "replay: exit status $status"
grep -q 'replayed [0-9]* events on 3 ranks, each alone: identical$' replay.err || fail "replay: not identical"
[ "$(result replay)" = "$(result record)" ] && [ -n "$(result replay)" ] || fail "replay: $(result replay), recorded $(result record)"

refuses 120 'the data of only 1 of 3 ranks' "$reprise" replay inside
refuses 120 '^reprise: error: cannot replay: --gdb:' "$reprise" replay --gdb 0 run
refuses 120 '^reprise: error: cannot replay: COMMAND:' "$reprise" replay run -- "${launch[@]}" "${program[@]}"
size=$(stat -c %s run/rank-00002.data)
damage run/rank-00002.data $((size - 60))
refuses 122 'rank 2: .*damaged' "$reprise" replay run
