# SPDX-License-Identifier: MIT
# Commutative regions of plain MPI programs that do not commute: a shuffled replay is compared with one in the recorded order, and names the region. What only looks different is no difference.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
app=$build/tests/mpi/$mpi/commutative_wrong
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/mpi/commutative_wrong.c
begin=$(grep -n '// region$' "$source" | cut -d: -f1)
line() { grep -n "$1" "$source" | cut -d: -f1; } # of the source
seed=5

shuffled() { # WHAT: records the program that does so, and replays it in another order
    run 60 record "$reprise" record -o "run-$1" "${launch[@]}" "$app" "$1"
    [ "$status" -eq 0 ] || fail "$1: record: exit status $status"
    run 120 shuffled env REPRISE_SHUFFLE=$seed "$reprise" replay --shuffle "run-$1"
    [ "$(result shuffled)" = "$(result record)" ] && [ "$(grep -c RESULT shuffled.out)" -eq 1 ] || fail "$1: what the shuffled replay prints is not what it was"
    compgen -G "run-$1/shuffle-*" >/dev/null && fail "$1: files are left"
}
right() {
    shuffled "$1"
    [ "$status" -eq 0 ] && grep -q '6 commutative regions: what their ranks handed to MPI since .*, and what was printed, is the same as in the recorded order' shuffled.err || fail "$1: exit status $status"
}
wrong() { # WHAT PLACE EVIDENCE
    shuffled "$1"
    [ "$status" -eq 121 ] || fail "$1 is not found: exit status $status"
    grep -q "rank $2, begun in .*commutative_wrong.c:$begin, does not commute" shuffled.err || fail "$1: the region is not named"
    grep -q "$3" shuffled.err || fail "$1: not said what differs"
}

right none
! grep -q 'not compared' shuffled.err || fail "bytes between data are compared"
wrong list '1: region 2 of 3' "rank 1: MPI_Bcast in .*commutative_wrong.c:$(line 'MPI_Bcast(list') was given other data"
wrong persistent '1: region 2 of 3' "rank 1: MPI_Startall to 0 in .*commutative_wrong.c:$(line MPI_Startall) was given other data"

# How data is compared that MPI has handed over is the same for every MPI: each has a part of it.
data_that_varies() {
    right noise
    grep -q '[1-9] calls were not compared: their data differs in two replays of the same order, too' shuffled.err || fail "times are compared"
    wrong 'noise late' '1: region 2 of 3' "rank 1: MPI_Allreduce in .*commutative_wrong.c:$(line MPI_Allreduce) was given other data"
    wrong rounding '1: region 2 of 3' 'rank 1: MPI_Bcast'
    grep -q 'floating-point numbers, whose sums depend on the order' shuffled.err || fail "not said that it may be rounding"
}
data_in_other_places() {
    right early
    wrong 'early list' '1: region 2 of 3' 'rank 1: MPI_Bcast'
    wrong answer '0: region 1 of 3' "rank 0: MPI_Send to [123] in .*was given other data"
    wrong printed '1: region 2 of 3' 'a line that was printed in the recorded order is not printed: KEPT 3021'
}
case $mpi in
openmpi) data_that_varies ;;
*) data_in_other_places ;;
esac

# Without a comparison that is said.
run 60 shuffled env REPRISE_SHUFFLE=$seed "$reprise" replay --shuffle --at-end stop run-list
[ "$status" -eq 0 ] && grep -q 'what was received from whom was compared, and not what was sent' shuffled.err || fail "--at-end: exit status $status"
# Standard input is the same for each of the replays.
echo 3 >input
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
"mpicc.$mpi" -g -I"$root/include" -o reader "$programs/regions_wrong_reader.c" -L"$build/lib" -lreprise -ldl || fail "not compiled"
"$reprise" record -o input-run "${launch[@]}" ./reader <input >record.out 2>record.err || fail "record, with input"
timeout 60 "$reprise" replay --shuffle input-run <input >shuffled.out 2>shuffled.err || fail "with input: exit status $?"
[ "$(result shuffled)" = "RESULT 18" ] && grep -q '1 commutative regions: .*is the same' shuffled.err || fail "with input"
