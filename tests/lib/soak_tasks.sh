# SPDX-License-Identifier: MIT
# kills processes of programs of tasks under `reprise ft --tasks`: the same result, or a refusal that may be
# usage: tests/soak tasks [-n ROUNDS] [-s SEED] [-r PROCESSES] [-o 0|1]
#   -n   100 rounds, if not said: a program, a fault-tolerant mode, and one or two kills, all at random
#   -s   the seed (1)
#   -r   how many processes (6, or $PROCESSES)
#   -o   1: all kills come from outside, at random moments; 0: none, but at random points of the run ($OUTSIDE)
# Prints every round on a terminal, or with VERBOSE=1. Needs an MPI with ULFM.
source "$lib/ft.sh"
unset OMPI_MCA_pml # the command sets what is needed
rounds=100 seed=1 processes=${PROCESSES:-6} outside=${OUTSIDE:-}
values=([s]=seed [r]=processes [o]=outside)
axes=()
declare -A expected ended share # share: of the messages, that a process has
programs=("leanmd --size 3 --steps 2" "stencil3d" "stencil3d --moves 1" "hydro" "amgexchange")
long_ones=("leanmd --size 4 --steps 20" "stencil3d --runs 400" "stencil3d --moves 1 --runs 200" "hydro --runs 300"
    "amgexchange --runs 300") # time for kills from outside
ft_modes=(partial partial full restart)

prepare() { RANDOM=$seed; }
label() { echo "tasks, $processes processes"; }

kill_outside() { # PROCESS MILLISECONDS...: children of its child, the launcher; what is left of the number chooses which
    local launcher victims wait
    for _ in $(seq 1 200); do
        launcher=$(pgrep -P "$1" 'mpirun|prterun' | head -n 1) # not what it asks before
        [ -n "$launcher" ] && pgrep -P "$launcher" >/dev/null && break
        sleep 0.02
    done
    for wait in "${@:2}"; do
        sleep "$(printf '%d.%03d' $((wait / 1000)) $((wait % 1000)))"
        mapfile -t victims < <(pgrep -P "$launcher")
        [ ${#victims[@]} -gt 0 ] && kill -KILL "${victims[wait % ${#victims[@]}]}" 2>/dev/null
    done
}

run_and_kill() { # NAME COMMAND...: as `run`, while processes die at $moments
    local name=$1 pid killer tenth
    shift
    "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null &
    pid=$!
    kill_outside $pid "${moments[@]}" &
    killer=$!
    for ((tenth = 0; tenth < 1200; tenth++)); do
        kill -0 $pid 2>/dev/null || break
        sleep 0.1
    done
    if kill -0 $pid 2>/dev/null; then give_up "$name" $pid; fail "$name: no end after 120 s"; fi
    wait $pid
    status=$?
    wait $killer
}

run_plain() { # once for each program
    run 120 plain "${command[@]}" "${job[@]}"
    [ "$status" -eq 0 ] || wrong "$program: exit status $status"
    expected[$program]=$(result plain)
    share[$program]=$(($(sed -nE 's/.* ran with .* ([0-9]+) messages of .*/\1/p' plain.err) / processes))
}

killed_outside() {
    moments=($((RANDOM % 1200)))
    [ $((RANDOM % 2)) -eq 0 ] && moments+=($((RANDOM % 300)))
    kills=$(printf '%sms,' "${moments[@]}")
    kills=${kills%,}
    run_and_kill killed "${command[@]}" "${job[@]}"
}

killed_inside() {
    kills=$((RANDOM % processes))@$((RANDOM % share[$program]))
    [[ $program == *moves* ]] && [ $((RANDOM % 2)) -eq 0 ] && kills=$((RANDOM % processes))@move
    [ $((RANDOM % 2)) -eq 0 ] && kills=$kills,$((RANDOM % processes))@$((RANDOM % share[$program]))
    run 120 killed "${command[@]}" --kill "$kills" "${job[@]}"
}

may_be_refused() { # after two deaths, or where nothing can be done
    case $status in
    123) [[ $kills == *,* ]] && grep -aqE 'is lost: both processes|determinants are held by' killed.err ;;
    125) [[ $kills == *ms* ]] && grep -aqE 'who is not out of it yet cannot be replaced|nobody can take over its tasks|died after reprise_tasks_end' killed.err ;;
    *) false ;;
    esac
}

check_end() { # sets `how`
    if [ "$status" -eq 0 ] && [ "$(result killed)" = "${expected[$program]}" ]; then
        how="with the same result, after $(grep -aoE 'process [0-9]+ has died' killed.err | sort -u | wc -l) deaths"
    elif may_be_refused; then
        how="refused with $status: $(grep -aoE 'is lost|determinants are held|cannot be replaced|nobody can take over|died after reprise_tasks_end' killed.err | head -n 1)"
    else
        wrong "$REPRISE_TASKS, $kills, $program: $(result killed), exit status $status"
    fi
}

one_round() {
    local is_outside=${outside:-$((RANDOM % 3 == 0))} which=$((RANDOM % ${#programs[@]}))
    [ "$is_outside" -eq 1 ] && program=${long_ones[which]} || program=${programs[which]}
    export REPRISE_TASKS=${ft_modes[RANDOM % 4]} REPRISE_TASKS_SPREAD=$((1 + RANDOM % 4))
    command=("$reprise" ft --tasks) job=(mpirun -n "$processes" $(printf '%s/%s' "$apps" "$program"))
    [ -n "${expected[$program]:-}" ] || run_plain
    if [ "$is_outside" -eq 1 ]; then killed_outside; else killed_inside; fi
    check_end
    ended[$how]=$((${ended[$how]:-0} + 1))
    [ ! -t 2 ] && [ -z "${VERBOSE:-}" ] || echo "$round: $REPRISE_TASKS, $kills, $program: $how" >&2
}

summary() { for how in "${!ended[@]}"; do printf '\n  %s %s' "${ended[$how]}" "$how"; done; }
