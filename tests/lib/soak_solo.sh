# SPDX-License-Identifier: MIT
# records apps with the data of a set of ranks and runs these alone: each prints the hash that it printed
# usage: tests/soak solo [-n ROUNDS] [-r RANKS] [-s SETS] [-m MPIS] [-a APPS]
#   -n   50 rounds of each combination, if not said
#   -r   how many ranks (8)
#   -s   sets of ranks ("3 0,5 1-3,6")
#   -m   MPIs ("openmpi mpich")
#   -a   apps, one-sided and others
source "$lib/common.sh"
rounds=50 n=8 sets="3 0,5 1-3,6" mpis="openmpi mpich"
apps="laplace gups steal fib queens hashtable particles masterworker halo sparse cg ft is"
values=([r]=n [s]=sets [m]=mpis [a]=apps)
axes=(mpi:mpis app:apps set:sets)
declare -A size=([laplace]=20 [gups]=1000 [steal]="192 --root 200" [fib]="18 --tree 1" [queens]="7 --tree 2"
    [hashtable]="60 --slots 1024" [particles]=1000 [masterworker]=1000 [halo]=20 [sparse]=40 [cg]="300 --work 2"
    [ft]="16 --work 3" [is]="20000 --work 4")
declare -A program=([fib]=steal [queens]=steal)
export APP_HASHES=1

label() { echo "$app on $mpi, ranks $set of $n"; }
begin() { launcher "$mpi" "$n"; }

one_round() {
    rm -rf run
    succeeds record "$reprise" record --ranks "$set" -o run \
        "${launch[@]}" "$build/apps/$mpi/${program[$app]:-$app}" --size ${size[$app]} --seed 1
    note "$(result record)"
    succeeds solo "$reprise" solo -r "$set" run
    check_alone
}

summary() { echo ", $(distinct), $(data_size)"; }
