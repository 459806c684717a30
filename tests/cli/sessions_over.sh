# SPDX-License-Identifier: MIT
# What a record cannot have is refused by name: sessions that begin after the last one has ended, or that are open behind MPI_Finalize. Recordings and deterministic runs alike.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
"mpicc.$mpi" -o over "$programs/sessions_over.c" || fail "it does not compile"
! ./over behind | grep -q SKIP || { echo "skipped: this MPI has no sessions"; exit 77; }

ended() { # with 123; where that comes behind the end of MPI, the launcher of MPICH 4.2 has a status of its own
    [ "$status" -eq 123 ] || { [[ $mpi = mpich* ]] && [ "$status" -ne 0 ]; }
}
refused() { # ARGUMENT WORDS
    run_failing "run-$1" 60 "record-$1" "$reprise" record -o "run-$1" "${launch[@]}" ./over "$1"
    ended && grep -q "error: $2 cannot be replayed yet" "record-$1.err" || fail "$1: record: exit status $status"
    run_failing "" 60 "det-$1" "$reprise" det "${launch[@]}" ./over "$1"
    ended && grep -q "error: $2 cannot be made deterministic" "det-$1.err" || fail "$1: det: exit status $status"
}
refused again "MPI_Session_init after the program has finalized MPI once"
refused behind "MPI_Finalize while the program has a session open"
grep -q ended record-again.out && ! grep -q again record-again.out || fail "it was stopped elsewhere"
run_failing "" 60 replay "$reprise" replay run-again
ended || fail "replay: exit status $status"
