# SPDX-License-Identifier: MIT
# runs apps deterministically, under a load that changes: results, matches and answers are always the same
# usage: tests/soak det [-n ROUNDS] [-r RANKS] [-m MPIS] [-a APPS]
#   -n   100 rounds of each combination, if not said; each is a run on every MPI
#   -r   numbers of ranks (4)
#   -m   MPIs, whose runs must be the same, too ("openmpi mpich")
#   -a   apps (all whose results depend on the order of messages)
# Sends are delayed at random in two of three rounds.
source "$lib/common.sh"
rounds=100 ranks=4 mpis="openmpi mpich"
apps="particles masterworker sortgather halo sparse jacobi treesearch lu mg polls"
values=([r]=ranks [m]=mpis [a]=apps)
axes=(app:apps n:ranks)
declare -A size=([particles]=1500 [masterworker]=1500 [sortgather]=20000 [halo]=20 [sparse]=40 [jacobi]=20
    [treesearch]=15000 [lu]="8 --work 4" [mg]="16 --work 3" [polls]=100)
delays=(0 300 3000)

busy_and_idle() { # by turns, on one core and on two
    trap 'kill $(jobs -p) 2>/dev/null' EXIT
    while sleep "0.$((RANDOM % 9))"; do
        for ((i = 0; i <= RANDOM % 2; i++)); do timeout "0.$((1 + RANDOM % 9))" bash -c 'while :; do :; done' & done
        wait
    done
}

prepare() {
    (busy_and_idle) &
    load=$!
    trap 'kill "$load" 2>/dev/null; rm -rf "$work"' EXIT
}

label() { echo "$app, $n ranks"; }
begin() { seen='' runs=0; }

one_run() { # on $mpi
    launcher "$mpi" "$n"
    REPRISE_DELAY=${delays[(round - 1) % 3]} succeeds det "$reprise" det --check --reductions fixed \
        "${launch[@]}" "$build/apps/$mpi/$app" --size ${size[$app]} --seed 1
    found="$(result det) $(grep -o 'deterministic: .*' det.err)"
    [[ $found = *hash=*deterministic:* ]] || wrong "on $mpi: no result or digest"
    [ "${seen:=$found}" = "$found" ] || wrong "on $mpi: '$found', before '$seen'"
    runs=$((runs + 1))
}

one_round() { for mpi in $mpis; do one_run; done; }
summary() { echo ", $runs runs on $mpis: all with ${seen#*deterministic: }"; }
