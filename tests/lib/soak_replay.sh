# SPDX-License-Identifier: MIT
# records apps and replays them: each replay must be identical and have the recorded result
# usage: tests/soak replay [-n ROUNDS] [-r RANKS] [-m MPIS] [-a APPS] [-c] [-k CODEC] [-d MICROSECONDS]
#   -n   200 rounds of each combination, if not said
#   -r   numbers of ranks ("4 8")
#   -m   MPIs ("openmpi mpich")
#   -a   apps (all with messages)
#   -c   record with clocks
#   -k   the codec (mix)
#   -d   delay the sends of a replay by clocks by up to so much
source "$lib/common.sh"
rounds=200 clocks= codec=mix delay= ranks="4 8" mpis="openmpi mpich"
apps="particles masterworker sortgather halo sparse jacobi treesearch lu mg polls cg ft is ep"
values=([r]=ranks [m]=mpis [a]=apps [k]=codec [d]=delay) flags=([c]=clocks)
axes=(mpi:mpis app:apps n:ranks)
declare -A size=([particles]=3000 [masterworker]=3000 [sortgather]=30000 [halo]=30 [sparse]=60 [jacobi]=30
    [treesearch]=30000 [lu]="8 --work 4" [mg]="16 --work 3" [polls]=100 [cg]="300 --work 2" [ft]="16 --work 3"
    [is]="20000 --work 4" [ep]=16)
# Events of a replay: some receive by name and wait for all, which leaves nothing to record but clocks.
declare -A events=([cg]=0 [ft]=0 [is]=0 [ep]=0)

prepare() { [ "$clocks$codec" = mix ] || for app in "${!events[@]}"; do events[$app]='[0-9]*'; done; }
label() { echo "$app on $mpi, $n ranks"; }
begin() { launcher "$mpi" "$n"; }

one_round() {
    rm -rf run
    REPRISE_CLOCKS=$clocks succeeds record "$reprise" record --codec "$codec" -o run \
        "${launch[@]}" "$build/apps/$mpi/$app" --size ${size[$app]} --seed 1
    recorded=$(result record)
    [ -n "$recorded" ] || wrong "no RESULT"
    note "$recorded"
    REPRISE_DELAY=$delay succeeds replay "$reprise" replay run
    [ "$(result replay)" = "$recorded" ] || wrong "$(result replay), recorded $recorded"
    grep -q "replayed ${events[$app]-[1-9][0-9]*} events on $n ranks: identical\$" replay.err || wrong "not identical"
}

summary() { echo ", $(distinct)"; }
