# SPDX-License-Identifier: MIT
# For tests of `reprise ft`: an MPI with ULFM, or no test; runs and what is expected of them.
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../tools" && pwd)
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Its prefix. `make test` begins to make one where there is none; where that fails the tests do not all try it again.
ulfm() {
    local failed=$build/ulfm.failed
    "$tools/ulfm" --find && return 0
    [ -z "$(find "$failed" -mmin -60 2>/dev/null)" ] || return 1
    timeout 5400 nice -n 19 "$tools/ulfm" --build && return 0 # on a machine with more to do than these tests it takes long
    touch "$failed"
    return 1
}
REPRISE_ULFM=$(ulfm) || { echo "skipped: there is no MPI with ULFM, and it could not be made"; exit 77; }
export REPRISE_ULFM
apps=$build/apps/openmpi
[ -e "$build/lib/reprise/openmpi/libreprise-ft.so" ] || { echo "skipped: built without Open MPI"; exit 77; }

# Whether processes can be started in a job with ULFM. Those of Open MPI 6.0.0rc2 cannot.
can_respawn() {
    [ "${openmpi_version%%.*}" -ge 6 ] || return 0
    mpicc.openmpi "$(dirname "${BASH_SOURCE[0]}")/../ft/programs/spawns.c" -o spawns || fail "cannot compile"
    timeout 60 mpirun.openmpi --with-ft ulfm -n 2 ./spawns >/dev/null 2>&1
}

# NAME RANKS OPTIONS -- PROGRAM...: a run without failures, whose result is expected of all others
expect() {
    local name=$1 ranks=$2
    shift 2
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    run 100 "$name" "$reprise" ft "${options[@]}" mpirun -n "$ranks" "$@"
    [ "$status" -eq 0 ] || fail "$name: exit status $status"
    expected=$(result "$name")
    [ -n "$expected" ] || fail "$name: no result"
}

# NAME DEATHS RANKS OPTIONS -- PROGRAM...: the same result, though so many ranks died ('any': at least one)
survive() {
    local name=$1 deaths=$2 ranks=$3 died
    shift 3
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    run 100 "$name" "$reprise" ft "${options[@]}" mpirun -n "$ranks" "$@"
    [ "$status" -eq 0 ] || fail "$name: exit status $status"
    [ "$(result "$name")" = "$expected" ] || fail "$name: $(result "$name") instead of $expected"
    died=$(grep -c ' died .* and was replaced in ' "$work/$name.err")
    [ "$died" = "$deaths" ] || { [ "$deaths" = any ] && [ "$died" -gt 0 ]; } || fail "$name: $died deaths instead of $deaths"
}
