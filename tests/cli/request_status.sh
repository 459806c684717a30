# SPDX-License-Identifier: MIT
# What MPI 4.1 answers about several requests at once. An MPI that has not got these functions gets them from a library of the test, which stands for it.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
"mpicc.$mpi" -g -shared -fPIC -o libbelow.so "$programs/status_below.c" && "mpicc.$mpi" -g -o many "$programs/status_many.c" -L. -lbelow -Wl,-rpath,"$work" || fail "it does not compile"

run 60 native "${launch[@]}" ./many
[ "$status" -eq 0 ] && [ -n "$(result native)" ] || fail "native: exit status $status"
[ "$("$reprise" env record ./many | grep -c libreprise-compound)" -eq 1 ] || fail "the library is not preloaded"
"$reprise" doctor ./many >doctor.out && ! grep -q refused doctor.out || fail "doctor: something is refused"

for argument in '' persistent; do
    rm -rf run all
    TEST_ORDER=random:3 run 60 record "$reprise" record -o run "${launch[@]}" ./many $argument
    [ "$status" -eq 0 ] && [ -n "$(result record)" ] || fail "record: exit status $status"
    TEST_ORDER=down run 60 replay "$reprise" replay run
    [ "$status" -eq 0 ] && grep -q identical replay.err && [ "$(result replay)" = "$(result record)" ] || fail "replay: exit status $status"
    run 60 det "$reprise" det "${launch[@]}" ./many $argument
    [ "$status" -eq 0 ] && [ -n "$(result det)" ] || fail "det: exit status $status"
    run 60 again "$reprise" det "${launch[@]}" ./many $argument
    [ "$(result again)" = "$(result det)" ] || fail "det: $(result again), before $(result det)"
done
"$reprise" dump --sites run >dump.out && grep -A1 'MPI_Request_get_status called' dump.out | grep -q "status_many.c:" || fail "the place of the program's call is not told"

TEST_ORDER=down run 60 record "$reprise" record --ranks all -o all "${launch[@]}" ./many persistent
[ "$status" -eq 0 ] || fail "record of all ranks: exit status $status"
for rank in 0 3; do
    run 60 solo "$reprise" solo -r "$rank" all
    [ "$status" -eq 0 ] && grep -q "identical\$" solo.err || fail "rank $rank alone: exit status $status"
done
