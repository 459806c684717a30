# SPDX-License-Identifier: MIT
# MPI_Isendrecv and MPI_Isendrecv_replace from anyone, which Open MPI has since version 5: who runs again takes the same messages; when all ranks go back, exchanges under way are forgotten.
source "$(dirname "$0")/../lib/ft.sh"
"$REPRISE_ULFM/bin/mpicc" -O1 -g -Wall -I "$(dirname "$tools")/include" "$programs/exchange.c" -o exchange "$build/lib/libreprise.a" || fail "cannot compile"
expect reference 4 --interval 8 -- ./exchange
survive once 1 4 --interval 8 --kill 2@14:5 -- ./exchange
survive twice 2 4 --interval 8 --spares 2 --kill 0@12:7,3@15:2 -- ./exchange
survive all-back 2 4 --interval 8 --spares 2 --capacity 1 --kill 1@13:6,2@22:3 -- ./exchange
grep -q 'all ranks go back' all-back.err || fail "the log cannot have been long enough"
