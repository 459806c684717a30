# SPDX-License-Identifier: MIT
# Commutative regions of a plain MPI program: the record has no order of them; replays give one, shuffled ones others; what depends on the order after all is a difference.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
app=$build/tests/mpi/$mpi/commutative
weighed() { sed -n 's/^WEIGHED //p' "$work/$1.err"; }
order() { sed -n 's/^ORDER //p' "$work/$1.err"; }

run 60 record "$reprise" record -o run "${launch[@]}" "$app"
[ "$status" -eq 0 ] || fail "record: exit status $status"
# Sources go up, from 1 to 3 and again, where no poll came between.
"$reprise" dump run >dump.out || fail "dump"
sed -nE 's/.* RECV .* source=([0-9]+) .*/\1/p' dump.out >sources.out
[ "$(wc -l <sources.out)" -eq 72 ] || fail "$(wc -l <sources.out) receives are recorded, not 72"
awk 'NR > 6 && NR <= 9 { a = a $1 } END { exit a != "123" }' sources.out || fail "the second round is not in the order of sources: $(head -12 sources.out | tr '\n' ' ')"

run 60 replay "$reprise" replay run
[ "$status" -eq 0 ] && grep -q identical replay.err && [ "$(result replay)" = "$(result record)" ] || fail "replay: exit status $status"
for seed in 1 2 3; do
    run 60 shuffled env REPRISE_SHUFFLE=$seed "$reprise" replay --shuffle run
    [ "$status" -eq 0 ] && grep -q identical shuffled.err && [ "$(result shuffled)" = "$(result record)" ] || fail "shuffled: exit status $status"
    grep -q '12 commutative regions: what their ranks handed to MPI since .* is the same' shuffled.err || fail "not compared"
    grep -q '72 receives in commutative regions were shuffled' shuffled.err || fail "nothing was shuffled"
    [ "$(order shuffled)" != "$(order replay)" ] || fail "seed $seed: the same order as before"
done

run 60 careless "$reprise" record -o careless "${launch[@]}" "$app" careless
[ "$status" -eq 0 ] || fail "record, careless: exit status $status"
run 60 shuffled env REPRISE_SHUFFLE=1 "$reprise" replay --shuffle careless
[ "$status" -eq 121 ] && grep -q 'the replay left the record' shuffled.err || fail "a region that is none is not found out: exit status $status"
# The order of the record, which is that of the sources, may lead elsewhere already.
grep -Eq 'rank 0: region [0-9]+ of 12, begun in .*commutative.c:[0-9]+, does not commute|rank 0: the last region that it began before is its region [0-9]+, in .*commutative.c:[0-9]+' shuffled.err || fail "a region that is none is not named"

# Regions that are closed before their counts are reached: shuffled replays take no message from behind the end.
early=$build/tests/mpi/$mpi/commutative_early
run 60 record "$reprise" record -o early "${launch[@]}" "$early"
[ "$status" -eq 0 ] && [ -e early/rank-00000.regions ] && [ ! -e early/rank-00001.regions ] || fail "early, record: exit status $status"
"$reprise" recode --codec tables -o again early >recode.out || fail "early, recode"
cmp early/rank-00000.regions again/rank-00000.regions || fail "early, recode: other regions"
"$reprise" verify again >verify.out || fail "early, verify"
for seed in 1 2 3 4; do
    run 60 shuffled env REPRISE_SHUFFLE=$seed "$reprise" replay --stall 10 --shuffle $([ $seed -lt 4 ] && echo early || echo again)
    [ "$status" -eq 0 ] && grep -q identical shuffled.err && [ "$(result shuffled)" = "$(result record)" ] || fail "early, shuffled by $seed: exit status $status"
    [ "$(weighed shuffled)" = "$(weighed record)" ] || fail "early, shuffled by $seed: messages of other regions were taken"
    grep -q '30 receives in commutative regions were shuffled' shuffled.err || fail "early: nothing was shuffled"
done
damage early/rank-00000.regions 16
"$reprise" verify early >verify.out 2>verify.err
[ $? -eq 122 ] && grep -q 'rank 0: .*rank-00000.regions: damaged' verify.err || fail "a damaged log of regions is not found"
