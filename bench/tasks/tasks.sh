# SPDX-License-Identifier: MIT
# What fault tolerance of programs of tasks costs, with partial and with full determinants; recovery against restart.
# usage: bench/run tasks [--quick] [PART...]
#   forward    runs without failures
#   recovery   what a failure adds to a run, against restart
#   scale      the model of up to a million processes (taskscale.c)

# Programs of tasks without failures. Instructions are counted, since times of these short messages say little on a shared machine: of two runs of different length, so that starts, checkpoints and ends fall away, and without the
# functions of MPI that look whether something has come, which idle processes call all the time. Beside that, the processor time of all, without what idle processes take, and the time that passes.

told() { sed -nE "s/^$1 .*\b$2=([0-9.]+).*/\1/p" "$work/told"; }

task_shape() # APP: sets `shape`, with many small messages, `few` and `many` steps to be counted, and what is timed: a checkpoint every half second or so
{
    case $1 in
    leanmd) shape=(--size 16 --cells 4) few=4 many=16 timed=(--steps 40 --runs 2) ;;
    stencil3d) shape=(--size 16 --blocks 4) few=10 many=50 timed=(--steps 300 --runs 6) ;;
    hydro) shape=(--size 12 --blocks 3) few=10 many=50 timed=(--steps 300 --runs 6) ;;
    esac
}

count_steps() # APP MODE STEPS: instructions of all processes
{
    local app=$1 mode=$2 steps=$3
    rm -f "$work"/callgrind*
    REPRISE_TASKS=$mode REPRISE_TASKS_TIMES=5000 timeout 900 "mpirun.$mpi" -n 2 valgrind -q --tool=callgrind --collect-atstart=no --toggle-collect=reprise_tasks_run \
        --toggle-collect=PMPI_Improbe --toggle-collect=PMPI_Test --toggle-collect=usleep "--callgrind-out-file=$work/callgrind.%p" "$build/apps/$mpi/$app" "${shape[@]}" --steps "$steps" --runs 2 \
        >/dev/null 2>"$work/told" || fail "$app, $mode: $(tail -n 3 "$work/told")"
    cat "$work"/callgrind.* | awk '$1 == "totals:" { sum += $2 } END { print sum }'
}

count_forward()
{
    local app mode
    for app in leanmd stencil3d hydro; do
        task_shape $app
        for mode in plain partial full; do
            say "instructions of $app, $mode"
            note count $app $mode "$(($(count_steps $app $mode $many) - $(count_steps $app $mode $few)))"
        done
    done
}

time_forward()
{
    local round app mode
    for ((round = 0; round < ${rounds_of_tasks:-7}; round++)); do
        for app in leanmd stencil3d hydro; do
            task_shape $app
            say "forward $app, round $round"
            for mode in plain partial full; do
                REPRISE_TASKS=$mode REPRISE_TASKS_TIMES=20 timeout 300 "mpirun.$mpi" -n 2 "$build/apps/$mpi/$app" "${shape[@]}" "${timed[@]}" >/dev/null 2>"$work/told" || fail "$app, $mode: $(tail -n 3 "$work/told")"
                note forward $app $mode $round "$(told TIMES run)" "$(told TIMES processor)" "$(told COUNTS messages)" "$(told COUNTS determinant_bytes)" "$(told COUNTS log_bytes)"
            done
        done
    done
}

forward()
{
    local mpi=${mpis%% *} shape few many timed
    count_forward
    time_forward
}

# A process is killed in the middle of the second of three periods; what that adds to the run is compared.
recovery()
{
    local ulfm round mode spread kill options
    ulfm=$("$top/tools/ulfm" --find) || { say "recovery: no MPI with ULFM"; return; }
    for ((round = 0; round < ${rounds_of_tasks:-5}; round++)); do
        say "recovery, round $round"
        for options in "partial 1" "partial 2" "partial 4" "partial 8" "restart 1"; do
            read -r mode spread <<<"$options"
            for kill in '' 4@7600; do # of 4,860 messages a period
                env -u OMPI_MCA_rmaps_base_oversubscribe LD_LIBRARY_PATH="$ulfm/lib" REPRISE_TASKS=$mode REPRISE_TASKS_SPREAD=$spread REPRISE_TASKS_KILL=$kill REPRISE_TASKS_TIMES=20 \
                    timeout 300 "$ulfm/bin/mpirun" --with-ft ulfm --oversubscribe --allow-run-as-root -n 9 "$build/apps/openmpi/leanmd" --size 64 --cells 3 --steps 28 --runs 3 >/dev/null 2>"$work/told" || true
                [[ -n $(told TIMES run) ]] || fail "$mode, killed $kill: $(tail -n 3 "$work/told")"
                note recovery $mode "$spread" "${kill:+killed}" $round "$(told TIMES run)" $(($(told COUNTS messages) + ${kill:+${kill#4@} + }0)) # what the dead process ran is not in its sum
            done
        done
    done
}

# The model against real runs.
scale()
{
    local app ranks side mpi=${mpis%% *} model
    gcc -O2 -I"$top/src" -o "$work/taskscale" "$here/taskscale.c" "$top/src/match/message_id.c"
    for ranks in 4 8 16 32; do
        for app in leanmd stencil3d hydro; do
            say "scale $app, $ranks processes"
            side=--blocks
            [[ $app != leanmd ]] || side=--cells
            REPRISE_TASKS=partial REPRISE_TASKS_TIMES=20 timeout 300 "mpirun.$mpi" -n $ranks "$build/apps/$mpi/$app" --size 4 $side 4 --steps 3 --runs 2 >/dev/null 2>"$work/told" || fail "$app: $(tail -n 3 "$work/told")"
            model=$("$work/taskscale" check $app $ranks 4 4 3 2)
            note scale $app $ranks "$(told COUNTS messages)" "$(told COUNTS remote)" "$(told COUNTS log_bytes)" "$(echo "$model" | tr -dc '0-9 ')"
        done
    done
    "$work/taskscale"
}

tasks()
{
    local part parts=()
    for part in "$@"; do
        case $part in
        --quick) rounds_of_tasks=3 ;;
        forward | recovery | scale) parts+=("$part") ;;
        *) usage >&2; fail "no part '$part'" ;;
        esac
    done
    [[ ${#parts[@]} -gt 0 ]] || parts=(forward recovery scale)
    build=$(cd "$build" && pwd)
    for part in "${parts[@]}"; do
        "$part"
    done
    python3 "$here/tasks.py" "$work/raw"
}
