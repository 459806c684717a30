# SPDX-License-Identifier: MIT
# kills ranks of apps under `reprise ft`: every result is that of the run without failures
# usage: tests/soak ft [-n ROUNDS] [-s SEED] [-r RANKS] [-a APPS] [-c CAPACITY] [-i ITERATIONS] [-e] [-w] [-p] [-b]
#   -n   100 random schedules of 1 to 5 failures, also during recovery, for each combination, if not said
#   -s   the seed of the schedules (1)
#   -r   numbers of ranks ("4 8")
#   -a   apps ("jacobi cg blast")
#   -c   the capacity of the log, or
#   -i   its capacity in iterations: late failures make all ranks go back
#   -w   without spares, with new processes instead
#   -e   instead: every rank in every iteration of a checkpoint interval, with 1 to 4 spares (Dichev and Nikolopoulos, section 8.1)
#   -p   instead: two ranks at once, with --copies 2 and without files: neighbours in one round, any two in the next
#   -b   instead: one or two ranks while they are in MPI_Init, and in every third round another in the loop
# Goes on after a failure, and prints its schedule. Needs an MPI with ULFM.
source "$lib/ft.sh"
rounds=100 seed=1 ranks="4 8" names="jacobi cg blast" capacity= span= every= anew= pairs= early=
values=([s]=seed [r]=ranks [a]=names [c]=capacity [i]=span) flags=([e]=every [w]=anew [p]=pairs [b]=early)
axes=(name:names n:ranks)
declare -A arguments=([jacobi]="--size 40 --edge 40" [cg]="--class 1" [blast]="--size 40 --edge 4")
declare -A intervals=([jacobi]=10 [cg]=5 [blast]=10) iterations=([jacobi]=40 [cg]=15 [blast]=40)

prepare() {
    keeps=(--checkpoints files) schedule=random_times
    [ -z "$early" ] || schedule=in_init
    [ -z "$pairs" ] || keeps=(--copies 2) schedule=two_at_once
    [ -z "$every" ] || schedule=every_iteration
    RANDOM=$seed
}

label() { echo "$name, $n ranks"; }

begin() {
    interval=${intervals[$name]} last=${iterations[$name]}
    expect reference "$n" --interval "$interval" -- "$apps/$name" ${arguments[$name]}
    deaths=0 global=0 starts=0
    [ -z "$every" ] || repeats=$(((interval + 1) * n))
}

# Schedules: each sets `options` for a round.

room() { [ -n "$anew" ] && echo "--spares 0 --respawn $1" || echo "--spares $1"; } # for so many deaths

random_times() { options=($(room 5) --kill-random "$((seed + round)):$((1 + round % 5)):$last"); }

every_iteration() {
    local iteration=$((interval + (round - 1) / n)) rank=$(((round - 1) % n))
    options=($(room $((1 + (iteration + rank) % 4))) --kill "$rank@$iteration:$(((iteration * 7 + rank * 3) % 13))")
}

two_at_once() { # in the same iteration
    local first=$((RANDOM % n)) away=1 place=$((RANDOM % last)):$((RANDOM % 20))
    [ $((round % 2)) -eq 1 ] || away=$((1 + RANDOM % (n - 1)))
    options=($(room 2) --kill "$first@$place,$(((first + away) % n))@$place")
}

in_init() { # where a place is a time
    local first=$((RANDOM % n)) longest=$((RANDOM % 2 ? 60000 : 400000)) kills
    kills=$first@init:$((RANDOM * 13 % longest))
    [ $((round % 2)) -eq 1 ] || kills+=,$(((first + 1 + RANDOM % (n - 1)) % n))@init:$((RANDOM * 13 % longest))
    [ $((round % 3)) -ne 1 ] || kills+=,$((RANDOM % n))@$((RANDOM % last)):$((RANDOM % 20))
    options=($(room 3) --kill "$kills")
}

one_round() {
    $schedule
    rm -rf files
    run 100 try "$reprise" ft "${keeps[@]}" --interval "$interval" ${capacity:+--capacity "$capacity"} \
        ${span:+--capacity-iterations "$span"} "${options[@]}" mpirun -n "$n" "$apps/$name" ${arguments[$name]}
    deaths=$((deaths + $(grep -c ' died .* and was replaced in ' try.err)))
    starts=$((starts + $(grep -c 'the job starts again' try.err)))
    global=$((global + $(grep -c 'all ranks go back' try.err)))
    [ "$status" -eq 0 ] && [ "$(result try)" = "$expected" ] && return
    echo "FAILED: $what, ${options[*]}: status $status, $(result try) instead of $expected"
    tail -n 5 try.err
    bad=1
}

summary() { echo ", $deaths deaths, $global of them with all ranks going back, $starts new starts"; }
