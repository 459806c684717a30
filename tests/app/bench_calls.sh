# SPDX-License-Identifier: MIT
# The MPI that does nothing, on which instructions are counted, has all that recording asks of an MPI.
source "$(dirname "$0")/../lib/common.sh"
BENCH_BUILD=$build BENCH_MPIS=$1 run 100 calls "$(dirname "$0")/../../bench/run" overhead calls
[ "$status" -eq 0 ] || fail "exit status $status"
grep -q "calls, $1: [1-9][0-9]* recorded" "$work/calls.err" || fail "nothing was recorded"
