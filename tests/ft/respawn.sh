# SPDX-License-Identifier: MIT
# No spare is left: new processes are started, as many as the user allows; also when a rank dies again, when several die, and while others recover. Without them the job ends and says why.
source "$(dirname "$0")/../lib/ft.sh"
can_respawn || { echo "skipped: without reprise, too, MPI_Comm_spawn fails in a job with ULFM"; exit 77; }
jacobi=("$apps/jacobi" --size 40 --edge 40)
expect reference 4 --interval 10 -- "${jacobi[@]}"
survive first 1 4 --interval 10 --spares 0 --respawn 1 --kill 2@14:5 -- "${jacobi[@]}"
survive after-spare 2 4 --interval 10 --spares 1 --respawn 1 --kill 0@12:3,3@25:1 -- "${jacobi[@]}"
survive again 3 4 --interval 10 --spares 0 --respawn 3 --kill 1@11:2,1@17:4,2@30:6 -- "${jacobi[@]}"
survive in-setup 1 4 --interval 10 --spares 0 --respawn 1 --kill 1@setup:2 -- "${jacobi[@]}"
survive all-back 1 4 --interval 10 --spares 0 --respawn 1 --capacity 1 --kill 1@17:6 -- "${jacobi[@]}"
survive before any 4 --interval 10 --spares 0 --respawn 3 --kill 0@15:5,1@recovery:1 -- "${jacobi[@]}"
survive behind any 4 --interval 10 --spares 0 --respawn 3 --kill 0@15:5,1@recovery:3 -- "${jacobi[@]}"
mkdir -p there
mpicc.openmpi -O1 -I "$(dirname "$tools")/include" "$programs/respawn_told.c" -o told "$build/lib/libreprise.a" || fail "cannot compile"
run 100 told "$reprise" ft --spares 0 --respawn 1 --kill 1@12 mpirun -x TOLD='a word' --wdir "$work/there" -n 3 "$work/told" '' 'two words'
[ "$status" -eq 0 ] || fail "told: exit status $status"
[ "$(result told)" = "RESULT 60  two words a word /there" ] || fail "told: $(result told)"

run 60 meanwhile "$reprise" ft --interval 10 --checkpoints files --spares 0 --respawn 3 --kill 0@25:5,2@recovery:5 mpirun -n 4 "${jacobi[@]}"
[ "$status" -eq 125 ] && grep -qE '(did not come within 30 s|cannot start|died while a new one was started).* --restart' meanwhile.err || fail "meanwhile: exit status $status"
expected_before=$expected
expect restarted 4 --interval 10 --checkpoints files --restart -- "${jacobi[@]}"
[ "$expected" = "$expected_before" ] || fail "restarted: $expected instead of $expected_before"
grep -q 'begins again with iteration 20' restarted.err || fail "restarted: not from the last checkpoint"
run 100 limit "$reprise" ft --interval 10 --spares 0 --respawn 1 --kill 1@12,2@22 mpirun -n 4 "${jacobi[@]}"
[ "$status" -eq 125 ] || fail "limit: exit status $status instead of 125"
grep -q 'rank 2 died and no spare is left (there were 0: --spares, and 1 were started later: --respawn)' limit.err || fail "limit: it does not say what there was"
run 100 hosts "$reprise" ft --respawn 1 mpirun --host a,b -n 4 "${jacobi[@]}"
[ "$status" -eq 123 ] && grep -q -- '--respawn starts processes on this host only' hosts.err || fail "hosts: exit status $status"
run 100 number "$reprise" ft --respawn x mpirun -n 4 "${jacobi[@]}"
[ "$status" -eq 120 ] && grep -q -- '--respawn x: a whole number' number.err || fail "number: exit status $status"
