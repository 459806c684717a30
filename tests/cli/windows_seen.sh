# SPDX-License-Identifier: MIT
# A program that makes windows is recorded with the data of all ranks, without any option. How a record is replayed follows from the calls that
# the program made, not from whether they succeeded.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
unset OMPI_MCA_btl_vader_single_copy_mechanism # Open MPI makes these windows only where memory of others can be reached directly
launcher "$mpi" 2
announced='calls MPI_Win_create: the data of all ranks is recorded'
cat >app.c <<'END'
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int make(void *, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win *);

static void *nothing(void *unused) { return unused; }

static void use_window(make *create, int rank)
{
    long *shared = malloc(sizeof *shared), *got = malloc(sizeof *got);
    MPI_Win win;

    *shared = rank;
    create(shared, sizeof *shared, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Get(got, 1, MPI_LONG, 1 - rank, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    printf("rank %d got %ld\n", rank, *got);
}

static void fail_window(make *create, int rank)
{
    long shared = rank;
    int class = 0;
    MPI_Win win;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int rc = create(&shared, -8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Error_class(rc, &class);
    printf("rank %d: error class %d, that of sizes is %d\n", rank, class, MPI_ERR_SIZE);
    rc = create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    printf("rank %d: %s\n", rank, rc ? "error" : "a window of no size");
    if (!rc)
        MPI_Win_free(&win);
}

/* Wildcard messages, so that there is something to replay; and what the arguments say. */
int main(int argc, char **argv)
{
    int rank, value, provided, level = strstr(argv[1], "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    pthread_t thread;
#ifdef SEEN
    make *create = MPI_Win_create;
#else
    make *create = (make *)dlsym(RTLD_DEFAULT, "MPI_Win_create");
#endif
#ifdef PARTITIONED
    if (argc > 99)
        MPI_Pready(0, NULL);
#endif

    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strstr(argv[1], "threads")) {
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (strstr(argv[1], "window"))
        use_window(create, rank);
    if (strstr(argv[1], "failure"))
        fail_window(create, rank);
    return MPI_Finalize();
}
END
compile() { "mpicc.$mpi" -O1 -g -o "$@" app.c -pthread -ldl || fail "$1 does not compile"; }
compile seen -DSEEN
compile unseen

replays() { # NAME TEXT: the record replays identically, with the same output, and says TEXT
    run 60 "$1.replay" "$reprise" replay "$1"
    [ "$status" -eq 0 ] || fail "$1: replay: exit status $status"
    grep -q "$2" "$1.replay.err" || fail "$1: replay: '$2' is not said"
    [ "$(sort "$1.replay.out")" = "$(sort "$1.out")" ] || fail "$1: replay: other output"
}

records() { # NAME COMMAND...
    local name=$1
    shift
    run 60 "$name" "$reprise" record -o "$name" "$@"
    [ "$status" -eq 0 ] || fail "$name: exit status $status"
}

# Seen: both launch orders, and several programs in a command; one line announces it.
records outside "${launch[@]}" ./seen window
[ "$(grep -c "$announced" outside.err)" -eq 1 ] || fail "outside: not announced once"
replays outside 'on 2 ranks, each alone: identical$'
run 60 inside "${launch[@]}" "$reprise" record -o inside ./seen window
[ "$status" -eq 0 ] && [ "$(grep -c "$announced" inside.err)" -eq 1 ] || fail "inside: exit status $status, or not announced once"
replays inside 'on 2 ranks, each alone: identical$'
launcher "$mpi" 1
records several "${launch[@]}" ./unseen window : -n 1 ./seen window
grep -q "$announced" several.err || fail "several programs: not announced"
replays several 'on 2 ranks, each alone: identical$'
launcher "$mpi" 2
"$reprise" env record ./seen 2>env.err >env.out && grep -q "REPRISE_RANKS='all'" env.out && grep -q "$announced" env.err || fail "env"

# It makes no window in this run: the record is an ordinary one, with data.
records unused "${launch[@]}" ./seen nothing
replays unused 'on 2 ranks: identical$'

# The old way, and programs that were not seen to make windows.
refuses 123 'MPI_Win_create cannot be replayed yet.*record --ranks all' "$reprise" record --ranks none -o none "${launch[@]}" ./seen window
grep -q "$announced" refused.err && fail "--ranks none: data is announced"
refuses 123 'MPI_Win_create cannot be replayed yet.*record --ranks all' "$reprise" record -o unseen.run "${launch[@]}" ./unseen window
records allowed --allow MPI_Win_create "${launch[@]}" ./seen window
[ ! -e allowed/rank-00000.data ] || fail "--allow MPI_Win_create: data was recorded"
records clocks --clocks "${launch[@]}" ./seen nothing

# Threads that may call MPI: without windows it is an ordinary recording, with one it is refused.
records threads "${launch[@]}" ./seen threads
grep -q 'several threads may call MPI: the data of this rank is not recorded' threads.err || fail "threads: not said"
[ ! -e threads/rank-00000.data ] && [ ! -e threads/rank-00000.data-tail ] || fail "threads: data is left"
replays threads 'on 2 ranks: identical$'
refuses 123 'MPI_Win_create cannot be replayed yet' "$reprise" record -o threads2 "${launch[@]}" ./seen threads,window
refuses 123 'several threads that may all call MPI' "$reprise" record --ranks all -o threads3 "${launch[@]}" ./seen threads

# What only a recording of data refuses.
if "mpicc.$mpi" -O1 -o partitioned -DSEEN -DPARTITIONED -Werror=implicit-function-declaration app.c -ldl 2>/dev/null; then
    records partitioned.run "${launch[@]}" ./partitioned nothing
    [ ! -e partitioned.run/rank-00000.data ] || fail "partitioned: data was recorded"
    "$reprise" doctor ./partitioned | grep -q 'calls MPI_Win_create and MPI_Pready, which cannot be recorded together' || fail "doctor: partitioned"
fi

# Windows that could not be made.
records failure "${launch[@]}" ./seen failure
grep -q 'rank 0: error class \([0-9]*\), that of sizes is \1$' failure.out || fail "the window was made"
replays failure 'on 2 ranks, each alone: identical$'
records failure2 --ranks all "${launch[@]}" ./unseen failure
replays failure2 'on 2 ranks, each alone: identical$'

# Fortran names the functions otherwise.
command -v "mpif90.$mpi" >/dev/null || { echo "windows_seen on $mpi: without Fortran"; exit 0; }
cat >fortran.f90 <<'END'
program seen
    use MODULE
    integer :: ierror, rank
    integer(kind=MPI_ADDRESS_KIND) :: bytes
    integer, volatile :: shared(2), got(2)
    WINDOW :: win
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    shared = rank
    got = -1
    bytes = 8
    call MPI_Win_create(shared, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    bytes = 0
    call MPI_Get(got, 2, MPI_INTEGER, 1 - rank, bytes, 2, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    print *, 'rank', rank, 'got', got(2)
    call MPI_Win_free(win, ierror)
    call MPI_Finalize(ierror)
end program
END
for kind in 'mpi integer' 'mpi_f08 type(MPI_Win)'; do
    sed "s/MODULE/${kind% *}/; s/WINDOW/${kind#* }/" fortran.f90 >"${kind% *}.f90"
    "mpif90.$mpi" -o "${kind% *}" "${kind% *}.f90" >compile.out 2>&1 || fail "${kind% *} does not compile"
    records "fortran.${kind% *}" "${launch[@]}" "./${kind% *}"
    grep -q 'the data of all ranks is recorded' "fortran.${kind% *}.err" || fail "${kind% *}: not announced"
    replays "fortran.${kind% *}" 'on 2 ranks, each alone: identical$'
done
echo "windows_seen on $mpi: ok"
