/* SPDX-License-Identifier: MIT */
/* usage: spawn_parts WHAT: two ranks spawn two children; child 1 takes a message, and then does
 * what WHAT says (`waits`: for a file named go). With OTHER in the environment, some take another
 * path; PROGRAM is spawned instead of itself. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *what;

static int is(const char *word)
{
    return strcmp(what, word) == 0;
}

static int is_other(const char *word)
{
    return is(word) && getenv("OTHER");
}

static void take(int tag, MPI_Comm comm)
{
    int value;

    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE);
}

static void be_child(int rank, MPI_Comm parent)
{
    int value = 0;

    MPI_Send(&rank, 1, MPI_INT, 0, 1, parent);
    if (rank == 1) {
        take(2, parent);
        if (is("crash"))
            raise(SIGSEGV);
        if (is_other("diverge"))
            MPI_Probe(MPI_ANY_SOURCE, 3, parent, MPI_STATUS_IGNORE);
        if (is_other("hang"))
            MPI_Recv(&value, 1, MPI_INT, 0, 9, parent, MPI_STATUS_IGNORE); /* never sent */
        if (is("waits"))
            MPI_Recv(&value, 1, MPI_INT, 0, 9, parent, MPI_STATUS_IGNORE);
        take(3, parent);
    }
    MPI_Comm_disconnect(&parent);
}

static MPI_Comm spawn(char *program, char **words)
{
    MPI_Comm children = MPI_COMM_NULL;

    MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
    return children;
}

static void be_parent(int rank, char *program, char **words)
{
    MPI_Comm children;

    if (is_other("none"))
        return;
    for (int i = 100; is("closes") && i < 200; i++)
        close(i);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if ((children = spawn(program, words)) == MPI_COMM_NULL) {
        puts("SKIP");
        return;
    }
    if (is_other("twice"))
        spawn(program, words);
    if (rank == 0) {
        int value = 4;
        take(1, children);
        take(1, children);
        MPI_Send(&value, 1, MPI_INT, 1, 2, children);
        while (is("waits") && access("go", F_OK) != 0)
            usleep(100000);
        if (is("waits"))
            MPI_Send(&value, 1, MPI_INT, 1, 9, children);
        MPI_Send(&value, 1, MPI_INT, 1, 3, children);
    }
    MPI_Comm_disconnect(&children);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int rank;

    MPI_Init(&argc, &argv);
    what = argc > 1 ? argv[1] : "plain";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        be_child(rank, parent);
    else
        be_parent(rank, getenv("PROGRAM") ? getenv("PROGRAM") : argv[0], argv + 1);
    MPI_Finalize();
    return 0;
}
