# SPDX-License-Identifier: MIT
# Programs of tasks whose processes are killed: the others take their tasks over, and the result is that of a run without failures. What cannot be repaired is refused.
source "$(dirname "$0")/../lib/ft.sh"
unset OMPI_MCA_pml # which the command sets
# The configuration of the MPI says nothing, as that of a distribution: the command itself sets what is needed.
: >empty.conf
export OMPI_MCA_mca_base_param_files=$work/empty.conf

tasks() { # NAME MODE KILLS PROGRAM...
    run 120 "$1" env REPRISE_TASKS="$2" REPRISE_TASKS_SPREAD="${spread:-16}" "$reprise" ft --tasks ${3:+--kill "$3"} mpirun -n "${processes:-4}" "${@:4}"
}

small=("$apps/leanmd" --size 3 --steps 2)
tasks plain partial '' "${small[@]}"
expected=$(result plain)
[[ $expected == *verified=yes* ]] || fail "without failures: $expected"
survives() { # NAME MODE KILLS DEATHS PROGRAM...
    tasks "$1" "$2" "$3" "${@:5}"
    [ "$status" -eq 0 ] && [ "$(result "$1")" = "$expected" ] || fail "$1: $(result "$1") instead of $expected, exit status $status"
    [ "$(grep -oE 'process [0-9]+ has died' "$work/$1.err" | sort -u | wc -l)" -eq "$4" ] || fail "$1: not $4 deaths"
}
survives first partial 0@1 1 "${small[@]}"
survives middle partial 2@1000 1 "${small[@]}"
spread=1 survives last full 3@2000 1 "${small[@]}"
survives restart restart 1@1200 1 "${small[@]}"
survives twice partial 1@800,3@800 2 "${small[@]}"
for ((i = 1; i <= 4; i++)); do processes=6 survives "six_$i" partial 1@800,3@$((700 + 50 * i)) 2 "${small[@]}"; done

# Started by hand, with nothing but what the program's own library sets.
run 120 by_hand env LD_LIBRARY_PATH="$REPRISE_ULFM/lib" REPRISE_TASKS=partial REPRISE_TASKS_KILL=1@800,3@750 "$REPRISE_ULFM/bin/mpirun" --with-ft ulfm --map-by :OVERSUBSCRIBE -n 6 "${small[@]}"
[ "$(result by_hand)" = "$expected" ] || fail "by hand: $(result by_hand), exit status $status"

# While tasks move; another may die before they have.
tasks stay partial '' "$apps/stencil3d" --moves 1
expected=$(result stay)
[[ $expected == *verified=yes* ]] || fail "moves without failures: $expected"
survives moving partial 2@move 1 "$apps/stencil3d" --moves 1
survives moving_restart restart 0@move 1 "$apps/stencil3d" --moves 1
survives moving_late partial 1@move,3@300 2 "$apps/stencil3d" --moves 1
expected=$(result plain)

# Both holders of a state at once.
tasks both partial 1@1000,2@1000 "${small[@]}"
if [ "$(result both)" != "$expected" ]; then # they may have died in different runs
    grep -q 'is lost: both processes that held it have died' both.err && [ -z "$(result both)" ] && [ "$status" -eq 123 ] || fail "two neighbours: exit status $status"
fi

# Order-dependent messages: every unit is done once, though the master dies.
tasks master partial 0@60 "$apps/workers" --size 150
[ "$status" -eq 0 ] && result master | grep -q 'units=150$' && ! grep -q 'VERIFY FAILED' master.err || fail "the master: $(result master), exit status $status"

# How it ends is told as it is.
mpicc.openmpi -O1 -Wall -I "$(dirname "$tools")/include" "$programs/tasks_end.c" -o tasks_end -L"$build/lib/reprise/openmpi" -lreprise-tasks || fail "cannot compile"
ends() { # HOW STATUS KILLS TEXT
    tasks "end_$1" partial "$3" ./tasks_end "$1"
    [ "$status" -eq "$2" ] || fail "$1: exit status $status, not $2"
    grep -qE -- "$4" "$work/end_$1.err" || fail "$1: '$4' is not said"
}
ends well 0 '' '0 determinants'
[ "$(result end_well)" = 'RESULT sum=3744' ] || fail "well: $(result end_well)"
ends killed 0 0@30,2@100 '2 processes died'
[ "$(result end_killed)" = 'RESULT sum=3744' ] || fail "killed: $(result end_killed)"
REPRISE_TASKS_PATIENCE=2 ends after 0 '' 'ran with'
ends status 5 '' 'ran with'
ends status 5 0@30 'process 0 has died'
ends exit 3 '' 'called exit with status 3 before reprise_tasks_end: so the job ends'
ends late 125 '' 'process 1 died after reprise_tasks_end'
tasks end_crash partial '' ./tasks_end crash # wherever the task goes
[ "$status" -eq 123 ] || [ "$status" -eq 125 ] || fail "crash: exit status $status"
grep -qE 'is lost: both processes that held it have died|all processes died' end_crash.err || fail "crash: it is not said what happened"
tasks before partial '' ./tasks_end before
[ "$status" -eq 4 ] || fail "an end before MPI_Init: exit status $status"

# A death before tasks begin: the job starts again, with the same standard input.
early() { # NAME DEATHS OPTION...
    head -c "$2" /dev/zero >deaths
    run 120 "early_$1" env REPRISE_TASKS=partial "$reprise" ft --tasks "${@:3}" mpirun -n 4 ./tasks_end early deaths
}
early twice 2
[ "$status" -eq 0 ] && [ "$(result early_twice)" = 'RESULT sum=3744' ] || fail "two early deaths: $(result early_twice), exit status $status"
[ "$(grep -c 'rank 1 .* died, and no process had left reprise_tasks_begin yet: the job starts again' early_twice.err)" -eq 2 ] || fail "two early deaths: not told twice"
early too_often 2 --retries 1
[ "$status" -eq 125 ] && grep -q 'so it was when the job was started again' early_too_often.err || fail "more early deaths than retries: exit status $status"
early never 1 --retries 0
[ "$status" -eq 125 ] && ! grep -q 'starts again' early_never.err || fail "no retries: exit status $status"

# Where survivors do wait for ever, which they do now and then without that setting, they are told who waits for what.
for ((i = 1; i <= 8; i++)); do
    REPRISE_TASKS_PATIENCE=5 processes=6 tasks waits partial 1@800,3@750 env OMPI_MCA_async_mpi_finalize=0 "${small[@]}"
    [ "$status" -eq 0 ] && continue
    [ "$status" -eq 125 ] && grep -q 'waits for MPI_Finalize, which does not return' waits.err || fail "a job that waits: exit status $status"
    break
done

# What it is not for.
refuses 123 'ep is no program of tasks' "$reprise" ft --tasks mpirun -n 2 "$apps/ep"
refuses 123 'echo is no program of tasks' "$reprise" ft --tasks mpirun -n 2 /bin/echo hi
refuses 120 'no program' "$reprise" ft --tasks mpirun -n 2 ./nothing
refuses 120 '--spares is not for programs of tasks' "$reprise" ft --tasks --spares 1 mpirun -n 2 ./tasks_end
refuses 120 'there is no process 2' "$reprise" ft --tasks --kill 2@10 mpirun -n 2 ./tasks_end
refuses 120 'PROCESS@MESSAGES' "$reprise" ft --tasks --kill 1@setup:3 mpirun -n 2 ./tasks_end
refuses 120 'partial (the default), full or restart' env REPRISE_TASKS=record "$reprise" ft --tasks mpirun -n 2 ./tasks_end
refuses 120 'a launcher is expected' "$reprise" ft --tasks ./tasks_end
printf '#!/bin/sh\nexec %s\n' "$apps/ep" >script
chmod +x script
refuses 123 'no process came to reprise_tasks_begin' "$reprise" ft --tasks mpirun -n 2 ./script
mkdir nowhere
refuses 120 'REPRISE_ULFM is nowhere' env REPRISE_ULFM=nowhere "$reprise" ft --tasks mpirun -n 2 ./tasks_end
