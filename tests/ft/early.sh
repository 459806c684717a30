# SPDX-License-Identifier: MIT
# A process that ends before it is out of MPI_Init: the others would wait for it for ever. The job ends, and says who it was; also if it is a spare, and if it died before our library was there. A launcher that is killed leaves no process and no file behind.
source "$(dirname "$0")/../lib/ft.sh"
cat >crash.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
__attribute__((constructor)) static void crash(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *who = getenv("CRASH");
    if (rank && who && strcmp(rank, who) == 0)
        raise(SIGKILL);
}
END
cat >early.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank;
    if (strcmp(argv[2], "all") == 0 || strcmp(argv[2], getenv("OMPI_COMM_WORLD_RANK")) == 0) {
        if (strcmp(argv[1], "kill") == 0)
            raise(SIGKILL);
        if (strcmp(argv[1], "exit") == 0)
            exit(3);
        if (strcmp(argv[1], "stop") == 0)
            raise(SIGSTOP);
        pid_t launcher = getppid();
        if (strcmp(argv[1], "later") == 0 && fork() == 0) {
            usleep((useconds_t)strtol(argv[3], NULL, 10));
            kill(getppid(), SIGKILL);
            _exit(0);
        }
        if (strcmp(argv[1], "crash") == 0) {
            if (fork() != 0)
                raise(SIGKILL);
            sleep(1);
            kill(launcher, SIGKILL);
            _exit(0);
        }
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (strcmp(argv[1], "slow") == 0)
            sleep(1);
    }
    if (rank == 0)
        puts("RESULT done");
    MPI_Finalize();
    return 0;
}
END
mpicc.openmpi -O1 early.c -o early || fail "cannot compile"
gcc -O1 -shared -fPIC crash.c -o libcrash.so || fail "cannot compile"
mpicc.openmpi -O1 early.c -o crashes -Wl,--no-as-needed,-rpath,"$work" -L. -lcrash || fail "cannot compile"
ends() { # NAME STATUS WORDS COMMAND...
    local name=$1 expected=$2 words=$3
    shift 3
    run 40 "$name" "$reprise" ft mpirun -n 3 "$@"
    [ "$status" -eq "$expected" ] || fail "$name: exit status $status instead of $expected"
    [ -z "$words" ] || grep -qE -- "$words" "$name.err" || fail "$name: does not say '$words'"
}
ends killed 125 'rank 1 \(process [0-9]+, before MPI_Init\) ended' ./early kill 1
ends exits 125 'rank 2 \(process [0-9]+, before MPI_Init\) ended' ./early exit 2
ends spare 125 'spare 0 \(process [0-9]+, before MPI_Init\) ended' ./early kill 3
CRASH=1 ends constructor 125 'rank 1 \((process [0-9]+, before MPI_Init|before it began)\) ended' ./crashes none none
REPRISE_FT_INIT_PATIENCE=4 ends stopped 125 'MPI_Init did not end within 4 s' ./early stop 1
# Open MPI's launcher was seen to crash when MPI_Init fails.
ends crash 125 'rank 1 \(process [0-9]+, before MPI_Init\) ended, and MPI_Init failed' ./early crash 1
grep -q 'the launcher was ended by signal 9' crash.err || fail "crash: does not say that the launcher was ended"
ends all-exit 3 '' ./early exit all
ends none 0 '' ./early none none

# Somewhere in MPI_Init, or behind it, where a spare takes over.
inside=0
for delay in 5000 20000 40000 60000 80000 100000 130000 160000 200000 250000; do
    run 40 later "$reprise" ft mpirun -n 3 ./early later 1 "$delay"
    if [ "$status" -eq 0 ]; then
        [ "$(result later)" = "RESULT done" ] || fail "later, after $delay us: no result"
    else
        [ "$status" -eq 125 ] && grep -qE 'rank 1 .*(ended|died)' later.err || fail "later, after $delay us: exit status $status"
        inside=$((inside + 1))
    fi
done
[ "$inside" -gt 0 ] || fail "later: no process was killed in MPI_Init"

cp early orphan.$$
"$reprise" ft --spares 2 mpirun -n 3 "./orphan.$$" slow none >killed-launcher.out 2>killed-launcher.err &
command=$!
for _ in $(seq 200); do
    ranks=$(pgrep -cf "^\./orphan.$$ ")
    [ "$ranks" -eq 5 ] && grep -qs . /dev/shm/reprise-ft-*/roll && break
    sleep 0.1
done
[ "$ranks" -eq 5 ] || fail "killed-launcher: $ranks processes instead of 5"
sleep 1
launcher=$(pgrep -P "$command")
shared=$(tr '\0' '\n' <"/proc/$(pgrep -f "^\./orphan.$$ " | head -n 1)/environ" | sed -n 's/^REPRISE_FT_DIR=//p')
[ -d "$shared" ] || fail "killed-launcher: no directory of the run"
kill -KILL "$launcher"
for _ in $(seq 100); do
    kill -0 "$command" 2>/dev/null || break
    sleep 0.1
done
kill -0 "$command" 2>/dev/null && { kill -KILL "$command"; fail "killed-launcher: the command does not end"; }
wait "$command"
status=$?
[ "$status" -eq 137 ] || fail "killed-launcher: exit status $status"
grep -q 'the launcher was ended by signal 9' killed-launcher.err || fail "killed-launcher: does not say so"
left=$(pgrep -f "^\./orphan.$$ ")
[ -z "$left" ] || { kill -KILL $left; fail "killed-launcher: processes $left stayed behind"; }
[ ! -e "$shared" ] || fail "killed-launcher: $shared stayed behind"
