# SPDX-License-Identifier: MIT
# Deterministic runs over several hosts, which one host plays, so that it can be tried everywhere and with more than two: the same results and decisions as on one.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/common.sh"
mpi=$1
launcher "$mpi" 5

decided() { # HOSTS PROGRAM...: result and digest
    REPRISE_HOSTS=$1 REPRISE_DELAY=$((($1 - 1) * 50)) run 60 det "$reprise" det --check "${launch[@]}" "${@:2}"
    [ "$status" -eq 0 ] || fail "$2 on $1 hosts: exit status $status"
    echo "$(grep -ho '^RESULT hash=[0-9a-f]*' "$work/det.out") $(grep -ho 'deterministic: .*' "$work/det.err")"
}

[ "$mpi" = openmpi ] && some=2 || some=3
for app in "particles --size 150" "masterworker --size 60" "halo --size 15" "sparse --size 8" "treesearch --size 300" "polls --size 15"; do
    one=$(decided 1 "$build"/apps/$mpi/$app) || exit 1
    [[ $one = RESULT*digest* ]] || fail "$app: $one"
    for hosts in $some 5; do
        several=$(decided $hosts "$build"/apps/$mpi/$app) || exit 1
        [ "$one" = "$several" ] || fail "$app: $one on one host, $several on $hosts"
    done
    echo "$app: $one"
done

for name in ring_of_receives one_misses_the_barrier long_sends_to_each_other barriers_crossed; do
    launcher "$mpi" "$(headers "$here/../mpi/deadlock/$name.c" ranks)"
    REPRISE_HOSTS=3 tells_deadlock "$here/../mpi/deadlock/$name.c" "$reprise" det "${launch[@]}" "$build/tests/mpi/$mpi/$name"
done

# Errors of the program are found between hosts, too.
for name in functions arguments requests unreceived; do
    given=$here/../mpi/mismatch/$name.c
    launcher "$mpi" "$(headers "$given" ranks)"
    while IFS= read -r line; do
        REPRISE_HOSTS=2 tells_error "$given" "$line" "$reprise" det "${launch[@]}" "$build/tests/mpi/$mpi/$name"
    done < <(headers "$given" case | sed -n '1p;5p;$p;/ibarrier ibcast/p;/ many/p;/ copy/p;/ between/p')
done

# A rank is killed, one that leads its host or one that does not: the run ends.
"mpicc.$mpi" -o killed "$programs/det_hosts_killed.c" || fail "it does not compile"
launcher "$mpi" 4
for rank in 1 3; do
    REPRISE_HOSTS=2 run_failing "" 60 killed "$reprise" det "${launch[@]}" ./killed $rank
    [ "$status" -ne 0 ] || fail "rank $rank was killed: exit status 0"
done
