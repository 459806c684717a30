/* SPDX-License-Identifier: MIT */
// ranks: 2
// natively: 60
// native: differs
// timeout: 100
// about: spawned children race messages to their parents, to each other and over a merged
//     communicator; children that spawn; spawn_multiple
#include <signal.h>
#include <unistd.h>

#include "check.h"

// Each of `count` senders at the other end, or in `comm`, sends twice.
static void take(MPI_Comm comm, int count, int tag)
{
    for (int i = 0; i < 2 * count; i++) {
        long value;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, comm, &status);
        check_note(value);
        check_note_status(&status);
    }
}

static void give(MPI_Comm comm, int dest, int tag)
{
    for (int i = 0; i < 2; i++) {
        check_pace(tag + i);
        check_send(dest, tag, i, comm);
    }
}

// Each child's hash goes to rank 0 of its parents.
static void end_child(MPI_Comm parent)
{
    long process = getpid();

    MPI_Send(&check.hash, 1, MPI_UINT64_T, 0, 99, parent);
    MPI_Send(&process, 1, MPI_LONG, 0, 98, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
}

// Until it is gone: launchers with PMIx may forget a child that comes while others end.
static void await_end(long process)
{
    for (int i = 0; i < 500 && kill((pid_t)process, 0) == 0; i++)
        usleep(20000);
}

static void end_children(MPI_Comm *children, int count)
{
    long processes[count];

    for (int i = 0; check.rank == 0 && i < count; i++) {
        uint64_t hash;
        MPI_Recv(&hash, 1, MPI_UINT64_T, i, 99, *children, MPI_STATUS_IGNORE);
        check_note((long)hash);
        MPI_Recv(&processes[i], 1, MPI_LONG, i, 98, *children, MPI_STATUS_IGNORE);
    }
    MPI_Comm_disconnect(children);
    for (int i = 0; check.rank == 0 && i < count; i++)
        await_end(processes[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int be_grandchild(MPI_Comm parent)
{
    give(parent, 0, 7);
    end_child(parent);
    return 0;
}

// Spawned by MPI_Comm_spawn_multiple: the second command has another argument.
static int be_other(MPI_Comm parent, const char *word)
{
    int *number, found;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
    check_note(found ? *number : -1);
    CHECK(strcmp(word, check.rank == 0 ? "one" : "two") == 0, "argument %s", word);
    give(parent, 0, 8);
    end_child(parent);
    return 0;
}

static int be_child(MPI_Comm parent, char *program)
{
    char *words[] = {(char *)"grandchild", NULL};
    MPI_Comm all, below;

    give(parent, 0, 1);
    if (check.rank == 0)
        take(MPI_COMM_WORLD, check.size - 1, 2);
    else
        give(MPI_COMM_WORLD, 0, 2);
    if (check.rank == 1)
        take(parent, 2, 3);
    MPI_Intercomm_merge(parent, 1, &all);
    give(all, 0, 4);
    MPI_Comm_free(&all);
    MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &below,
                   MPI_ERRCODES_IGNORE);
    if (check.rank == 0)
        take(below, 2, 7);
    end_children(&below, 2);
    end_child(parent);
    return 0;
}

static int can_spawn(char *program, MPI_Comm *children)
{
    char *words[] = {(char *)"child", NULL};

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc = MPI_Comm_spawn(program, words, 3, MPI_INFO_NULL, 1, MPI_COMM_WORLD, children,
                            MPI_ERRCODES_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return rc == MPI_SUCCESS;
}

static void spawn_others(char *program)
{
    char *commands[] = {program, program}, *one[] = {(char *)"other", (char *)"one", NULL},
         *two[] = {(char *)"other", (char *)"two", NULL}, **words[] = {one, two};
    int counts[] = {1, 2};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm others;

    MPI_Comm_spawn_multiple(2, commands, words, counts, infos, 1, MPI_COMM_WORLD, &others,
                            MPI_ERRCODES_IGNORE);
    if (check.rank == 0)
        take(others, 3, 8);
    end_children(&others, 3);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, children, all;

    check_start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return strcmp(argv[1], "child") == 0        ? be_child(parent, argv[0])
               : strcmp(argv[1], "grandchild") == 0 ? be_grandchild(parent)
                                                    : be_other(parent, argv[2]);
    if (!can_spawn(argv[0], &children))
        return check_skip(); // MPICH with UCX cannot, in Debian 12 and 13
    if (check.rank == 0)
        take(children, 3, 1);
    give(children, 1, 3);
    MPI_Intercomm_merge(children, 0, &all);
    if (check.rank == 0)
        take(all, 3, 4);
    MPI_Comm_free(&all);
    end_children(&children, 3);
    spawn_others(argv[0]);
    return check_end();
}
