# SPDX-License-Identifier: MIT
# A program that counts its own time, deterministically: the same decisions in every run and on either MPI, and others than by the time of calls alone; a child process does not disturb its clock.
apps=$(realpath "$(dirname "$0")/../../apps")
source "$(dirname "$0")/../lib/common.sh"
mpi=$1 other=openmpi
[ "$mpi" = mpich ] || other=mpich
command -v "mpicc.$other" >/dev/null && [ -d "$build/apps/$other" ] || other=$mpi

decided() { # MPI PROGRAM DELAY
    launcher "$1" 4
    REPRISE_DELAY=$3 run 120 "$1" "$reprise" det --check "${launch[@]}" "$2" --size 300 --skew 64 --seed 1
    [ "$status" -eq 0 ] || fail "$2 on $1: exit status $status"
    echo "$(grep -ho '^RESULT hash=[0-9a-f]*' "$work/$1.out") $(grep -ho 'deterministic: .*' "$work/$1.err")"
}

for one in "$mpi" "$other"; do
    "$build/bin/reprise-cc" "--mpi=$one" -O2 -o "counting.$one" "$apps/masterworker.c" "$apps/app.c" -lm || fail "reprise-cc --mpi=$one"
done
first=$(decided "$mpi" "$work/counting.$mpi" 0) || exit 1
second=$(decided "$mpi" "$work/counting.$mpi" 300) || exit 1
third=$(decided "$other" "$work/counting.$other" 100) || exit 1
plain=$(decided "$mpi" "$build/apps/$mpi/masterworker" 0) || exit 1
[[ $first = RESULT*digest* ]] || fail "$first"
[ "$first" = "$second" ] || fail "$first, then $second"
[ "$first" = "$third" ] || fail "$first, and on $other $third"
[ "$first" != "$plain" ] || fail "its own time makes no difference"

"$build/bin/reprise-cc" "--mpi=$mpi" -O1 -o child "$programs/det_ticks_child.c" || fail "it does not compile"
launcher "$mpi" 3
run 60 child "$reprise" det "${launch[@]}" ./child
[ "$status" -eq 0 ] && grep -q '^first 1$' "$work/child.out" || fail "a child process: $status"
echo "counting masterworker: $first"
