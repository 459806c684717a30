# SPDX-License-Identifier: MIT
# Sessions: without MPI_Init, beside it, one after the other; a rank dies in the setup, in the loop, behind it, and behind its last session. What a checkpoint cannot hold is refused.
source "$(dirname "$0")/../lib/ft.sh"
"$REPRISE_ULFM/bin/mpicc" -O1 -g -Wall -I "$(dirname "$tools")/include" "$programs/session_loop.c" -o session_loop "$build/lib/libreprise.a" || fail "cannot compile"
expect only 4 --interval 8 -- ./session_loop only
run 60 native env LD_LIBRARY_PATH="$REPRISE_ULFM/lib" "$REPRISE_ULFM/bin/mpirun" --oversubscribe -n 4 ./session_loop only
[ "$(result native)" = "$expected" ] || fail "without failures: $expected, without reprise: $(result native)"
for round in $(seq "${TEST_ROUNDS:-1}"); do
    for how in only both later several; do
        survive "$how" any 4 --interval 8 --spares 2 --kill 1@setup:6,2@13:5 -- ./session_loop "$how"
    done
    survive begin 1 4 --interval 8 --kill 0@setup:1 -- ./session_loop only
    survive behind-loop 1 4 --interval 8 --kill 3@24:4 -- ./session_loop only
    survive all-back 1 4 --interval 8 --capacity 1 --kill 1@13:9 -- ./session_loop several
    grep -q 'all ranks go back' all-back.err || fail "the log cannot have been long enough"
    rm -f died
    survive last 1 4 --interval 8 -- ./session_loop dies died
done
survive quick 1 4 --interval 8 --kill 2@12:3 -- ./session_loop quick

run 60 status "$reprise" ft mpirun -n 3 ./session_loop status
[ "$status" -eq 3 ] && [ -n "$(result status)" ] || fail "a program that ends with 3: exit status $status"
refuses 4 "ended without MPI_Session_finalize, with status 4" "$reprise" ft mpirun -n 2 ./session_loop open
refuses 123 "iteration 0 ends with a session that was opened inside the loop" "$reprise" ft --interval 1 mpirun -n 2 ./session_loop inside
refuses 123 "MPI_Session_init behind MPI_Finalize" "$reprise" ft mpirun -n 2 ./session_loop behind
