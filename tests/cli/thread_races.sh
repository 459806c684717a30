# SPDX-License-Identifier: MIT
# Threads that take locks otherwise than in the record, as they do where they share memory without locks: the replay leaves the record where it is seen.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
"mpicc.$mpi" -g -O0 -pthread -o program "$programs/thread_races.c" || fail "cannot compile"
run 60 record "$reprise" record -o run "${launch[@]}" ./program
[ "$status" -eq 0 ] || fail "record: exit status $status"
run 60 replay "$reprise" replay run
[ "$status" -eq 0 ] && grep -q identical replay.err || fail "replay: exit status $status"
OTHERWISE=1 run 60 otherwise "$reprise" replay run
[ "$status" -eq 121 ] && grep -q 'rank 1: .*the replay left the record at .*took its turn by another call' otherwise.err || fail "otherwise: exit status $status"
grep -q "thread_races.c:$(line_of recorded "$programs/thread_races.c")" otherwise.err || fail "the place is not told"
