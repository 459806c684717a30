# SPDX-License-Identifier: MIT
# Receives from anyone, also of a rank's own messages: who runs again takes the same ones; when all ranks go back, nobody is bound to what was before.
source "$(dirname "$0")/../lib/ft.sh"
mpicc.openmpi -O1 -g -Wall -I "$(dirname "$tools")/include" "$programs/anyone.c" -o anyone "$build/lib/libreprise.a" || fail "cannot compile"
expect reference 4 --interval 8 -- ./anyone
survive once 1 4 --interval 8 --kill 2@14:5 -- ./anyone
survive twice 2 4 --interval 8 --spares 2 --kill 0@12:7,3@15:2 -- ./anyone
survive all-back 2 4 --interval 8 --spares 2 --capacity 1 --kill 1@13:6,2@22:3 -- ./anyone
grep -q 'all ranks go back' all-back.err || fail "the log cannot have been long enough"
