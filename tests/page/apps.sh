# SPDX-License-Identifier: MIT
# The page of each app, opened and used without a complaint of the browser.
tests=$(cd "$(dirname "$0")/.." && pwd)
source "$tests/lib/common.sh"
mpi=openmpi
[ -d "$build/apps/openmpi" ] || mpi=mpich
declare -A size=([particles]=500 [masterworker]=300 [sortgather]=3000 [halo]=30 [sparse]=30 [jacobi]=30 [treesearch]=3000
    [lu]="8 --work 4" [mg]="16 --work 3" [polls]=50 [cg]="300 --work 2" [ft]="16 --work 3" [is]="20000 --work 4" [ep]=16)
launcher $mpi 4
pages=()
command -v chromium >/dev/null && for app in "${!size[@]}"; do
    manner=(--timestamps)
    [ "$app" = masterworker ] && manner=(--clocks)
    run 120 record "$reprise" record "${manner[@]}" -o "$app" "${launch[@]}" "$build/apps/$mpi/$app" --size ${size[$app]}
    [ "$status" -eq 0 ] && "$reprise" report "$app" >page.out || fail "$app: exit status $status"
    pages+=("$app.html")
done
timeout 900 python3 "$tests/page/drive.py" apps "${pages[@]}"
