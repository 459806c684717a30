/* SPDX-License-Identifier: MIT */
/* A program that names MPI_Win_create (SEEN; LARGE: MPI_Win_create_c), or looks it up where nobody
 * sees it. */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LARGE
#define CREATE MPI_Win_create_c
typedef MPI_Aint unit;
#else
#define CREATE MPI_Win_create
typedef int unit;
#endif
typedef int make(void *, MPI_Aint, unit, MPI_Info, MPI_Comm, MPI_Win *);

static void *nothing(void *unused)
{
    return unused;
}

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
    int rank, value, provided,
        level = strstr(argv[1], "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    pthread_t thread;
#ifdef SEEN
    make *create = CREATE;
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
