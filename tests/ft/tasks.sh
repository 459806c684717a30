# SPDX-License-Identifier: MIT
# Programs of tasks whose processes are killed: the others take their tasks over, and the result is that of a run without failures. What cannot be repaired is refused.
source "$(dirname "$0")/../lib/ft.sh"
export LD_LIBRARY_PATH=$REPRISE_ULFM/lib OMPI_MCA_mpi_yield_when_idle=1

tasks() { # NAME MODE KILLS PROGRAM...
    local name=$1
    run 120 "$name" env REPRISE_TASKS="$2" REPRISE_TASKS_KILL="$3" REPRISE_TASKS_SPREAD="${spread:-16}" "$REPRISE_ULFM/bin/mpirun" --with-ft ulfm --oversubscribe --allow-run-as-root -n 4 "${@:4}"
}

small=("$apps/leanmd" --size 3 --steps 2)
tasks plain partial '' "${small[@]}"
expected=$(result plain)
[[ $expected == *verified=yes* ]] || fail "without failures: $expected"
survives() { # NAME MODE KILLS DEATHS PROGRAM...
    tasks "$1" "$2" "$3" "${@:5}"
    [ "$(result "$1")" = "$expected" ] || fail "$1: $(result "$1") instead of $expected, exit status $status"
    [ "$(grep -oE 'process [0-9]+ has died' "$work/$1.err" | sort -u | wc -l)" -eq "$4" ] || fail "$1: not $4 deaths"
}
survives first partial 0@1 1 "${small[@]}"
survives middle partial 2@1000 1 "${small[@]}"
spread=1 survives last full 3@2000 1 "${small[@]}"
survives restart restart 1@1200 1 "${small[@]}"
survives twice partial 1@800,3@800 2 "${small[@]}"

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
    grep -q 'is lost: both processes that held it have died' both.err && [ -z "$(result both)" ] || fail "two neighbours: exit status $status"
fi

# Order-dependent messages: every unit is done once, though the master dies.
tasks master partial 0@60 "$apps/workers" --size 150
result master | grep -q 'units=150$' && ! grep -q 'VERIFY FAILED' master.err || fail "the master: $(result master), exit status $status"
