# SPDX-License-Identifier: MIT
# How a program ends that is not killed: its status, an abort, an exit without MPI_Finalize, which ends the job, and one by _exit, which is a death; what a checkpoint cannot hold and what cannot be recovered is refused by name. What a command left behind that was itself killed is removed by the next,
# but not what another one uses.
source "$(dirname "$0")/../lib/ft.sh"
mpicc.openmpi -O1 -I "$(dirname "$tools")/include" "$programs/endings_ends.c" -o ends "$build/lib/libreprise.a" || fail "cannot compile"
ends() { # HOW STATUS WORDS [ARGUMENT]
    run 60 "$1" "$reprise" ft mpirun -n 3 ./ends "$1" "${@:4}"
    [ "$status" -eq "$2" ] || fail "$1: exit status $status instead of $2"
    [ -z "$3" ] || grep -qa -- "$3" "$1.err" || fail "$1: does not say '$3'"
}
stale=$(mktemp -d /dev/shm/reprise-ft-XXXXXX) used=$(mktemp -d /dev/shm/reprise-ft-XXXXXX)
touch "$stale/lock"
exec 9<>"$used/to-be" # other tests run beside this one: it must never be there without being locked
flock 9
mv "$used/to-be" "$used/lock"
ends nothing 0 ''
[ ! -e "$stale" ] || { rm -r "$stale" "$used"; fail "what a killed command left behind is still there"; }
rmdir "$used" 2>/dev/null && fail "what another command uses was emptied"
[ -e "$used/lock" ] || fail "what another command uses was removed"
rm -r "$used"
exec 9>&-
ends status 7 ''
ends abort 9 ''
ends exit 11 'ended without MPI_Finalize, with status 11'
ends _exit 0 'ended by _exit, without MPI_Finalize: that counts as a death' once
grep -q 'rank 1 died in iteration' _exit.err || fail "_exit: nobody died"
ends quick 0 'ended by quick_exit, without MPI_Finalize: that counts as a death' quickly
ends forks 0 '' once_more
grep -q 'died' forks.err && fail "a process that was forked counted as a death"
ends early 125 'died' # all of them, maybe not at once
ends all 125 'died'
ends request 123 'iteration 9 ends with 1 requests under way'
ends comm 123 'a communicator that was made inside the loop'
ends window 123 'MPI_Win_create is not supported'
