# SPDX-License-Identifier: MIT
# What reprise ft cannot do it says by name.
source "$(dirname "$0")/../lib/ft.sh"
says() { # STATUS WORDS OPTIONS...
    local expected=$1 words=$2
    shift 2
    run 60 bad "$reprise" ft "$@"
    [ "$status" -eq "$expected" ] || fail "reprise ft $*: exit status $status instead of $expected"
    grep -q -- "$words" "$work/bad.err" || fail "reprise ft $*: does not say '$words'"
}
jacobi=("$apps/jacobi" --size 5 --edge 20)
says 120 "the number of ranks is not seen" mpirun "${jacobi[@]}"
says 120 "a launcher is expected" "${jacobi[@]}"
says 120 "--capacity 5x" --capacity 5x mpirun -n 2 "${jacobi[@]}"
for wrong in -1 5i x '' 99999999999999999999; do
    says 120 "--capacity-iterations $wrong: a whole number" --capacity-iterations "$wrong" mpirun -n 2 "${jacobi[@]}"
done
says 120 "--spares -1" --spares -1 mpirun -n 2 "${jacobi[@]}"
says 120 "--kill 0@2,7@1: there is no rank 7" --kill 0@2,7@1 mpirun -n 2 "${jacobi[@]}"
says 120 "--kill 1@x" --kill 1@x mpirun -n 2 "${jacobi[@]}"
says 125 "no spare is left" --spares 0 --kill 1@2 mpirun -n 2 "${jacobi[@]}"
REPRISE_ULFM=/nowhere says 120 "REPRISE_ULFM is /nowhere" mpirun -n 2 "${jacobi[@]}"
REPRISE_ULFM='' HOME=/nowhere XDG_CACHE_HOME=/nowhere "$tools/ulfm" --find >/dev/null || # the system's own may have it
    REPRISE_ULFM='' HOME=/nowhere XDG_CACHE_HOME=/nowhere says 123 "with-ft=ulfm" mpirun -n 2 "${jacobi[@]}"
