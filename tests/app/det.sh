# SPDX-License-Identifier: MIT
# Each app, deterministically: once as it comes, once with random delays, on the other MPI if there is one: one result, and the same decisions.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
[ "$mpi" = openmpi ] && other=mpich || other=openmpi
command -v "mpirun.$other" >/dev/null && [ -d "$build/apps/$other" ] || other=$mpi
declare -A size=([particles]=500 [masterworker]=300 [sortgather]=3000 [halo]=30 [sparse]=30 [jacobi]=30 [treesearch]=3000
    [lu]="8 --work 4" [mg]="16 --work 3" [polls]=50 [cg]="300 --work 2" [ft]="16 --work 3" [is]="20000 --work 4" [ep]=16)

decided() { # MPI APP DELAY: result and digest
    launcher "$1" 4
    REPRISE_DELAY=$3 run 120 "$1" "$reprise" det --check "${launch[@]}" "$build/apps/$1/$2" --size ${size[$2]} --seed 1
    [ "$status" -eq 0 ] || fail "$2 on $1: exit status $status"
    echo "$(grep -ho '^RESULT hash=[0-9a-f]*' "$work/$1.out") $(grep -ho 'deterministic: .*' "$work/$1.err")"
}

for app in "${!size[@]}"; do
    first=$(decided "$mpi" "$app" 0) || exit 1
    second=$(decided "$other" "$app" 300) || exit 1
    [[ $first = RESULT*digest* ]] || fail "$app: $first"
    [ "$first" = "$second" ] || fail "$app: $first, and with delays, on $other, $second"
    echo "$app: $first"
done
