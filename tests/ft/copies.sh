# SPDX-License-Identifier: MIT
# Copies of checkpoints: with one, it is half the ring away, or on another host, and a rank that dies together with the one that has it ends the job, with a message that names --copies. With K copies, any K ranks may die at once.
source "$(dirname "$0")/../lib/ft.sh"
jacobi=("$apps/jacobi" --size 30 --edge 40)
expect jacobi 4 -- "${jacobi[@]}"
# The job ends, and says that. Ranks that die at one iteration need not die at one moment: where the
# first was replaced before the next one died, the result is right, and it is tried again.
ends() { # NAME TEXT RANKS OPTIONS...
    local name=$1 text=$2 ranks=$3 try
    shift 3
    for try in 1 2 3 4 5; do
        run 60 "$name" "$reprise" ft "$@" mpirun -n "$ranks" "${jacobi[@]}"
        [ "$status" -eq 0 ] && [ "$(result "$name")" = "$expected" ] && [ "$(grep -c 'was replaced in' "$name.err")" -gt 1 ] || break
    done
    [ "$status" -eq 125 ] || fail "$name: exit status $status instead of 125"
    grep -q -- "$text" "$name.err" || fail "$name: does not say '$text'"
}
survive neighbours 2 4 --spares 2 --kill 1@17,2@17 -- "${jacobi[@]}"
ends together 'rank 1 died together with all that keep copies of its checkpoint (--copies 1: rank 3).*--copies 2 survives 2 deaths' 4 --spares 2 --kill 1@17,3@17
for pair in 0,1 0,2 1,3 2,3; do
    survive "two-$pair" 2 4 --copies 2 --spares 2 --kill "${pair%,*}@17:3,${pair#*,}@17:3" -- "${jacobi[@]}"
done
survive two-again 4 4 --copies 2 --spares 4 --kill 1@12,3@12,1@25,0@25 -- "${jacobi[@]}"
survive two-back 2 4 --copies 2 --spares 2 --capacity 1 --kill 1@17:6,3@17:6 -- "${jacobi[@]}"
grep -q 'all ranks go back' two-back.err || fail "two-back: not all ranks went back"
! can_respawn || survive two-respawned 2 4 --copies 2 --spares 0 --respawn 2 --kill 1@17,3@17 -- "${jacobi[@]}"
! can_respawn || survive respawned-keeps 3 4 --copies 2 --spares 0 --respawn 3 --kill 1@12,0@25,3@25 -- "${jacobi[@]}"
survive three 3 4 --copies 3 --spares 3 --kill 0@17,1@17,2@17 -- "${jacobi[@]}"
ends two-of-three 'rank 0 died together with all that keep copies of its checkpoint (--copies 2: rank 1, 2).*--copies 3 survives 3' 4 --copies 2 --spares 3 --kill 0@17,1@17,2@17
REPRISE_HOSTS=2 ends other-host '(--copies 1: rank 1)' 4 --spares 2 --kill 0@17,1@17 # hosts of ranks are 0 1 0 1: rank 0's copy is not with rank 2
REPRISE_HOSTS=2 survive same-host 2 4 --spares 2 --kill 0@17,2@17 -- "${jacobi[@]}"
# When no spare is left, one of the buddies completes the files of the dead.
ends files 'with --restart' 4 --copies 2 --spares 0 --checkpoints files --kill 2@25:3
expected_before=$expected
expect restarted 4 --copies 2 --checkpoints files --restart -- "${jacobi[@]}"
[ "$expected" = "$expected_before" ] && grep -q 'begins again with iteration 20' restarted.err || fail "restarted: $expected instead of $expected_before"
alone=("$apps/jacobi" --size 12 --edge 20)
expect alone 1 -- "${alone[@]}"
for wrong in 0 -1 x; do
    refuses 120 "--copies $wrong: a whole number" "$reprise" ft --copies "$wrong" mpirun -n 4 "${jacobi[@]}"
done
refuses 120 "--copies 4: copies are kept by other ranks, so that takes at least 5; there are 4" "$reprise" ft --copies 4 mpirun -n 4 "${jacobi[@]}"
refuses 120 "--copies 1: copies are kept by other ranks, so that takes at least 2; there is 1" "$reprise" ft --copies 1 mpirun -n 1 "${alone[@]}"
