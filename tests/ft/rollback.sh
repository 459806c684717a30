# SPDX-License-Identifier: MIT
# The paper's hybrid: a log that does not hold a whole checkpoint interval lets early failures be recovered by the dead rank alone, and makes all ranks go back for late ones. Both give the same result.
source "$(dirname "$0")/../lib/ft.sh"
jacobi=("$apps/jacobi" --size 30 --edge 200)
expect jacobi 4 -- "${jacobi[@]}"
survive early 1 4 --capacity 16K --kill 1@12 -- "${jacobi[@]}"
grep -q 'only what died' early.err || fail "early: all ranks went back though the log was long enough"
survive late 1 4 --capacity 16K --kill 1@18:3 -- "${jacobi[@]}"
grep -q 'all ranks go back' late.err || fail "late: the log cannot have been long enough"
survive twice 2 4 --capacity 16K --spares 2 --kill 3@18,0@recovery:4 --checkpoints files -- "${jacobi[@]}"
survive behind 1 4 --capacity 16K --kill 2@30:1 -- "${jacobi[@]}"
