# SPDX-License-Identifier: MIT
# Most of MPI's communication, with a rank killed in many places: what comes is what was sent, matches of wildcards are the same in the second life, the result is that without failures.
source "$(dirname "$0")/../lib/ft.sh"
mpicc.openmpi -O1 -g -Wall -I "$(dirname "$tools")/include" "$programs/everything.c" -o everything "$build/lib/libreprise.a" || fail "cannot compile"
expect reference 4 --interval 4 -- ./everything
for call in ${TEST_CALLS:-9 16 28 46 60}; do
    survive "call-$call" 1 4 --interval 4 --kill "$((call % 4))@$((3 + call % 7)):$call" -- ./everything
done
survive all-back 1 4 --interval 4 --capacity 20K --kill 2@7:40 -- ./everything
