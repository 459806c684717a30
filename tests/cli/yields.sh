# SPDX-License-Identifier: MIT
# A program that polls and yields: in a replay and in a deterministic run, its yields after answers of no do not reach the scheduler; all others do.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
gcc -shared -fPIC "$programs/yields_behind.c" -o libbehind.so || fail "the counter does not compile"
"mpicc.$mpi" -O1 "$programs/yields_polls.c" -o program -L. -lbehind "-Wl,-rpath,$work" || fail "the program does not compile"
export OMPI_MCA_mpi_yield_when_idle=0 # Open MPI's own yields are not counted then
run 60 record "$reprise" record -o run "${launch[@]}" ./program
[ "$status" -eq 0 ] && [ "$(result record)" = "RESULT 3000" ] || fail "record: $status"
read -r polled others <<<"$(sed -n 's/^yields //p' record.err)"
[ "$polled" -eq 3000 ] || { [ "$mpi" = mpich ] && [ "$polled" -gt 3000 ]; } || fail "record: $polled yields while polling" # MPICH's polls yield, too
[ "$others" -eq 500 ] || fail "record: yields were left out"
run 60 replay "$reprise" replay run
[ "$status" -eq 0 ] && [ "$(result replay)" = "RESULT 3000" ] || fail "replay: $status"
grep -q identical replay.err || fail "not identical"
grep -qx 'yields 0 500' replay.err || fail "replay: $(grep ^yields replay.err), but polls answered no need none, and others do"

# Here the waits inside our own calls yield, too, until the other rank waits: some two thousand times, and then they sleep.
run 60 det "$reprise" det "${launch[@]}" ./program
[ "$status" -eq 0 ] && [ "$(result det)" = "RESULT 3000" ] || fail "det: $status"
read -r polled others <<<"$(sed -n 's/^yields //p' det.err)"
[ "$polled" -lt 3000 ] && [ "$others" -eq 500 ] || fail "det: $polled yields while polling, and $others of 500 others"

# MPICH before 5 waits without ever yielding; under reprise it does, which is what a rank needs whose partner has no processor.
[ "$mpi" = mpich ] || exit 0
"mpicc.$mpi" -O1 "$programs/yields_waits.c" -o waits -L. -lbehind "-Wl,-rpath,$work" || fail "the second program does not compile"
ldd waits | grep -q libucp || { echo "this MPICH is not over UCX"; exit 0; }
run 60 native "${launch[@]}" ./waits
! grep -qs '^version 5\.' "$build/lib/reprise/mpich/mpi" || exit 0
[ "$status" -eq 0 ] && grep -qx 'yields 0' native.err || fail "native: exit status $status, $(grep ^yields native.err)"
run 60 waits "$reprise" record -o waits-run "${launch[@]}" ./waits
[ "$status" -eq 0 ] && [ "$(sed -n 's/^yields //p' waits.err)" -gt 100 ] || fail "a wait does not yield: $(grep ^yields waits.err)"
