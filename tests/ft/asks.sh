# SPDX-License-Identifier: MIT
# What MPI 4.1 answers about several requests at once, from anyone, persistent and generalized: who runs again gets the same answers. An MPI that has not got these functions gets them from a library of the test, which reprise does not call.
source "$(dirname "$0")/../lib/ft.sh"
mpicc.openmpi -g -shared -fPIC -o libbelow.so "$programs/../../cli/programs/status_below.c" || fail "cannot compile the library"
mpicc.openmpi -O1 -g -Wall -I "$(dirname "$tools")/include" "$programs/asks.c" -o asks "$build/lib/libreprise.a" -L. -lbelow -Wl,-rpath,"$work" || fail "cannot compile"
expect reference 4 --interval 8 -- ./asks
for round in $(seq "${TEST_ROUNDS:-1}"); do
    for kill in 1@9:12 2@13:8 3@15:16; do
        survive "kill-$kill" 1 4 --interval 8 --kill "$kill" -- ./asks
    done
    survive all-back 2 4 --interval 8 --spares 2 --capacity 1 --kill 1@13:6,2@22:9 -- ./asks
    grep -q 'all ranks go back' all-back.err || fail "the log cannot have been long enough"
done
