# SPDX-License-Identifier: MIT
# Threads that take locks otherwise than in the record, as they do where they share memory without locks: the replay leaves the record where it is seen.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
cat >program.c <<'END'
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int rounds, mine;

static void *work(void *unused)
{
    for (int done = 0, turn = 0; !done; turn++) {
        if (mine == 1 && turn >= 5 && getenv("OTHERWISE")) /* as if it had read what another wrote too early, or too late */
            pthread_mutex_lock(&mutex);
        else
            pthread_mutex_lock(&mutex);
        done = rounds >= 40;
        rounds += rounds % 2 == 1;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int level, done = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    pthread_create(&thread, NULL, work, NULL);
    while (!done) {
        pthread_mutex_lock(&mutex);
        done = rounds >= 40;
        rounds += rounds % 2 == 0;
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
END
"mpicc.$mpi" -g -O0 -pthread -o program program.c || fail "cannot compile"
run 60 record "$reprise" record -o run "${launch[@]}" ./program
[ "$status" -eq 0 ] || fail "record: exit status $status"
run 60 replay "$reprise" replay run
[ "$status" -eq 0 ] && grep -q identical replay.err || fail "replay: exit status $status"
OTHERWISE=1 run 60 otherwise "$reprise" replay run
[ "$status" -eq 121 ] && grep -q 'rank 1: .*the replay left the record at .*took its turn by another call' otherwise.err || fail "otherwise: exit status $status"
grep -q 'program.c:14' otherwise.err || fail "the place is not told"
