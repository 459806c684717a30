# SPDX-License-Identifier: MIT
# Windows of memory that the program has not stored into: others write there what is there already, which changes nothing. Alone, something else was left in that memory.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
[ "$mpi-${openmpi_version%%.*}" != openmpi-4 ] || export OMPI_MCA_osc=pt2pt # the others have no dynamic windows on every machine
mpicc."$mpi" -g "$programs/solo_unset.c" -o unset || fail "cannot compile"
run 60 record "$reprise" record --ranks 1 -o run "${launch[@]}" ./unset
[ "$status" -eq 0 ] || fail "record: exit status $status"
expected=$(grep 'rank=1 ' record.out)
[[ $expected == *failed=1 ]] || fail "no call failed"
run 60 same "$reprise" solo -r 1 run
run 60 other "$reprise" solo -r 1 run -- env MALLOC_PERTURB_=165 ./unset
for name in same other; do
    grep -q identical $name.err || fail "$name: not identical"
    [ "$(cat $name.out)" = "$expected" ] || fail "$name: $(cat $name.out), not $expected"
    grep -q 'the memory that' $name.err && fail "$name: memory is said to be another, but is made the same"
done

# What was there was no zero: it is said.
MALLOC_PERTURB_=90 run 60 full "$reprise" record --ranks 1 -o full "${launch[@]}" ./unset
[ "$status" -eq 0 ] || fail "full: exit status $status"
run 60 told "$reprise" solo -r 1 full -- env MALLOC_PERTURB_=165 ./unset
grep -q identical told.err || fail "told: not identical"
[ "$(grep -c 'the memory that MPI_Win_create is given is not what it was in the record' told.err)" -eq 1 ] || fail "not said that memory is another"
[ "$(cat told.out)" = "$(grep 'rank=1 ' full.out)" ] || fail "told: another result"
