# SPDX-License-Identifier: MIT
# How a program ends that is not killed: its status, an abort, an exit without MPI_Finalize, which ends the job, and one by _exit, which is a death; what a checkpoint cannot hold and what cannot be recovered is refused by name. What a command left behind that was itself killed is removed by the next,
# but not what another one uses.
source "$(dirname "$0")/../lib/ft.sh"
cat >ends.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "reprise.h"
int main(int argc, char **argv)
{
    int rank, size;
    double buffer[4];
    if (strcmp(argv[1], "early") == 0)
        raise(SIGKILL);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    reprise_protect(0, buffer, sizeof buffer);
    REPRISE_LOOP(i, 0, 30) {
        if (i == 9 && strcmp(argv[1], "request") == 0)
            MPI_Irecv(buffer, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
        if (i == 9 && strcmp(argv[1], "comm") == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (i == 9 && rank == 1 && strcmp(argv[1], "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, 9);
        if (i == 9 && rank == 1 && strcmp(argv[1], "exit") == 0)
            exit(11);
        if (i == 9 && rank == 1 && argc > 2 && access(argv[2], F_OK) != 0) {
            fclose(fopen(argv[2], "w"));
            if (strcmp(argv[1], "_exit") == 0)
                _exit(12);
            if (strcmp(argv[1], "quick") == 0)
                quick_exit(13);
            if (fork() == 0)
                _exit(14);
            wait(NULL);
        }
        if (strcmp(argv[1], "all") == 0)
            raise(SIGKILL);
        if (i == 9 && strcmp(argv[1], "window") == 0)
            MPI_Win_create(buffer, 32, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return strcmp(argv[1], "status") == 0 ? 7 : 0;
}
END
mpicc.openmpi -O1 -I "$(dirname "$tools")/include" ends.c -o ends "$build/lib/libreprise.a" || fail "cannot compile"
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
