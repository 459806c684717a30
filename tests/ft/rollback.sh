# SPDX-License-Identifier: MIT
# The hybrid local-global rollback of Dichev and Nikolopoulos (sections 6 and 8.2.4): a log that does not hold a whole checkpoint interval lets early failures be recovered by the dead rank alone, and makes all ranks go back for late ones. Both give the same result.
source "$(dirname "$0")/../lib/ft.sh"
jacobi=("$apps/jacobi" --size 30 --edge 200)
expect jacobi 4 -- "${jacobi[@]}"
survive early 1 4 --capacity 16K --kill 1@12 -- "${jacobi[@]}"
grep -q 'only what died' early.err || fail "early: all ranks went back though the log was long enough"
survive late 1 4 --capacity 16K --kill 1@18:3 -- "${jacobi[@]}"
grep -q 'all ranks go back' late.err || fail "late: the log cannot have been long enough"
survive twice 2 4 --capacity 16K --spares 2 --kill 3@18,0@recovery:4 --checkpoints files -- "${jacobi[@]}"
survive behind 1 4 --capacity 16K --kill 2@30:1 -- "${jacobi[@]}"

# The same with a log of half an interval, by number: what was sent in the last five iterations, with the one that runs.
survive early-of-five 1 4 --capacity-iterations 5 --kill 1@13:3 -- "${jacobi[@]}"
grep -q 'only what died' early-of-five.err || fail "early-of-five: all ranks went back though the log reached back"
survive late-of-five 1 4 --capacity-iterations 5 --kill 1@16:3 -- "${jacobi[@]}"
grep -q 'all ranks go back' late-of-five.err || fail "late-of-five: the log does not reach back so far"
survive late-of-ten 1 4 --capacity-iterations 10 --kill 1@16:3 -- "${jacobi[@]}"
grep -q 'only what died' late-of-ten.err || fail "late-of-ten: all ranks went back though the log reached back"
survive first-of-one 1 4 --capacity-iterations 1 --kill 2@0:2 -- "${jacobi[@]}"
grep -q 'only what died' first-of-one.err || fail "first-of-one: all ranks went back though the log reached back"
survive behind-of-five 1 4 --capacity-iterations 5 --kill 2@30:1 -- "${jacobi[@]}"
survive both-by-bytes 1 4 --capacity 16K --capacity-iterations 10 --kill 1@18:3 -- "${jacobi[@]}"
grep -q 'all ranks go back' both-by-bytes.err || fail "both-by-bytes: the log cannot have been long enough"
survive both-by-iterations 1 4 --capacity 64M --capacity-iterations 5 --kill 1@16:3 -- "${jacobi[@]}"
grep -q 'all ranks go back' both-by-iterations.err || fail "both-by-iterations: the log does not reach back so far"
survive both-long 1 4 --capacity 64M --capacity-iterations 10 --kill 1@16:3 -- "${jacobi[@]}"
grep -q 'only what died' both-long.err || fail "both-long: all ranks went back though the log reached back"

mpicc.openmpi -O1 -I "$(dirname "$tools")/include" "$programs/rollback_says.c" -o says "$build/lib/libreprise.a" || fail "cannot compile"
expect said 3 -- ./says 4
run 60 said-plain mpirun.openmpi -n 3 ./says 4
[ "$status" -eq 0 ] && [ -n "$(result said-plain)" ] || fail "the program does not run without reprise: exit status $status"
survive said-early 1 3 --kill 1@12:1 -- ./says 4
grep -q 'only what died' said-early.err || fail "said-early: all ranks went back though the log reached back"
survive said-late 1 3 --kill 1@15:1 -- ./says 4
grep -q 'all ranks go back' said-late.err || fail "said-late: the log does not reach back so far"
survive overruled 1 3 --capacity-iterations 0 --kill 1@15:1 -- ./says 4
grep -q 'only what died' overruled.err || fail "overruled: the option goes before what the program says"
run 60 negative "$reprise" ft mpirun -n 3 ./says -4
[ "$status" -eq 120 ] && grep -q 'reprise_capacity_iterations(-4)' negative.err || fail "a negative number of iterations: exit status $status"
