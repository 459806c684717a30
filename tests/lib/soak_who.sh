# SPDX-License-Identifier: MIT
# counts how often 'reprise solo --who' names the right writer of what one-sided reads got: 99 percent of each round
# usage: tests/soak who [-n ROUNDS] [-r RANKS] [-s SETS] [-m MPIS] [-a APPS]
#   -n   10 rounds of each combination, if not said
#   -r   how many ranks (8)
#   -s   sets of ranks ("0-3 1,2,5,7 all")
#   -m   MPIs ("openmpi mpich")
#   -a   apps: steal (tree search), fib (the same, with nodes that are alike), hashtable
# The apps tell the truth past MPI (APP_TRUTH). Prints a line for each round, too.
source "$lib/common.sh"
rounds=10 n=8 sets="0-3 1,2,5,7 all" mpis="openmpi mpich" apps="steal fib hashtable"
values=([r]=n [s]=sets [m]=mpis [a]=apps)
axes=(mpi:mpis app:apps set:sets)
declare -A size=([steal]="196 --root 400 --work 20000" [fib]="21 --tree 1 --work 5000" [hashtable]="200 --slots 1024")
declare -A program=([fib]=steal)

label() { echo "$app on $mpi, ranks $set of $n"; }
begin() { launcher "$mpi" "$n"; }

one_round() {
    local name=${program[$app]:-$app}
    rm -rf run truth.*
    APP_TRUTH=$work/truth succeeds record "$reprise" record --ranks "$set" -o run \
        "${launch[@]}" "$build/apps/$mpi/$name" --size ${size[$app]} --seed "$round"
    succeeds solo "$reprise" solo -r "$set" --who run
    "$reprise" dump --who --json run >who.json 2>who.err || wrong "dump"
    /usr/bin/python3 "$lib/truth.py" "$name" "$work/truth" "$n" "$(logged_ranks accesses | paste -sd,)" \
        <who.json >right.out 2>right.err || wrong "not to be compared"
    [ "$set" != all ] || ! grep -q '"how": "outside"' who.json || wrong "something comes from outside"
    echo "$what, round $round: $(cat right.out)"
    awk '{ exit !($5 >= 99) }' right.out || wrong "not right"
}

summary() { :; }
