/* SPDX-License-Identifier: MIT */
/*
 * A loop over communicators of sessions. The argument says what else there is:
 * only       a session, and no MPI_Init
 * both       MPI_Init before the session, MPI_Finalize behind it
 * later      MPI_Init behind the session's beginning, MPI_Finalize before its end
 * several    sessions one after the other, also in the loop, and in rank 0 alone
 * inside     a session that is open at the end of an iteration
 * behind     a session behind MPI_Finalize
 * dies FILE  rank 1 kills itself behind its last session, once
 * quick, status   ends by _exit or quick_exit; with status 3
 * open       ends with status 4, and does not end its session
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "reprise.h"

enum { ITERATIONS = 24 };

static const char *how;
static int rank, size, told;
static unsigned long mine, sum;
static MPI_Session session;
static MPI_Group group;
static MPI_Comm world, half;

static int is(const char *word)
{
    return strcmp(how, word) == 0;
}

static void check(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    exit(3);
}

/* Natively, Open MPI 5.0.7 calls it for MPI_Session_get_pset_info that succeeds, too. */
static void on_error(MPI_Session *of, int *code, ...)
{
    check(*of == session, "an error of another session");
    told += *code != MPI_SUCCESS;
}

static void look_at_sets(void)
{
    int count, length = 0, flag;
    char name[64] = "", value[32];
    MPI_Info info;

    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    for (int i = 0; i < count; i++, length = 0) {
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
        check(length > 0 && length <= (int)sizeof name, "the length of a name");
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        check((int)strlen(name) + 1 == length, "a name");
        MPI_Session_get_pset_info(session, name, &info);
        MPI_Info_get(info, "mpi_size", sizeof value - 1, value, &flag);
        MPI_Info_free(&info);
        if (strcasecmp(name, "mpi://WORLD") == 0)
            size = atoi(value);
        else if (strcasecmp(name, "mpi://SELF") == 0)
            check(flag && atoi(value) == 1, "the size of a set");
    }
}

static void look_at_errors(void)
{
    MPI_Group none;
    MPI_Errhandler handler;

    MPI_Session_get_errhandler(session, &handler);
    check(handler != MPI_ERRORS_RETURN, "another error handler");
    MPI_Errhandler_free(&handler);
    check(MPI_Group_from_session_pset(session, "test://none", &none) != MPI_SUCCESS && told == 1,
          "an unknown set");
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    check(MPI_Group_from_session_pset(session, "test://none", &none) != MPI_SUCCESS && told == 1,
          "an unknown set, again");
}

static void look_at_info(void)
{
    char level[32] = "";
    int flag, provided;
    MPI_Info used;

    MPI_Session_get_info(session, &used);
    MPI_Info_get(used, "thread_level", sizeof level - 1, level, &flag);
    MPI_Info_free(&used);
    check(!flag || !getenv("REPRISE_FT_RANKS") || strcmp(level, "MPI_THREAD_MULTIPLE") != 0,
          "more threads than there may be"); // Open MPI 6 names the least, whatever was asked for
    MPI_Query_thread(&provided);
}

static void open_session(void)
{
    MPI_Errhandler handler;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_create_errhandler(on_error, &handler);
    MPI_Session_init(info, handler, &session);
    MPI_Errhandler_free(&handler);
    MPI_Info_free(&info);
}

/* Opens and ends sessions of its own: one rank more often than others. */
static void visit(int times)
{
    MPI_Session other;
    MPI_Group self;
    MPI_Comm alone;
    int n;

    for (int i = 0; i < times; i++) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
        MPI_Group_from_session_pset(other, "mpi://self", &self);
        MPI_Comm_create_from_group(self, "test.alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &alone);
        MPI_Comm_size(alone, &n);
        check(n == 1, "more than itself");
        MPI_Comm_free(&alone);
        MPI_Group_free(&self);
        MPI_Session_finalize(&other);
    }
}

static void make_communicators(void)
{
    int count = 0, members[64];
    MPI_Group of_half;
    MPI_Errhandler handler;

    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Comm_create_from_group(group, "test.world", MPI_INFO_NULL, MPI_ERRORS_RETURN, &world);
    MPI_Comm_size(world, &count);
    check(count == size, "the size of the communicator");
    MPI_Comm_get_errhandler(world, &handler);
    check(handler == MPI_ERRORS_RETURN, "the communicator's error handler");
    count = 0;
    for (int i = size - 1; i >= 0; i--)
        if (i % 2 == rank % 2)
            members[count++] = i;
    MPI_Group_incl(group, count, members, &of_half);
    MPI_Comm_create_from_group(of_half, rank % 2 ? "test.odd" : "test.even", MPI_INFO_NULL,
                               MPI_ERRORS_RETURN, &half);
    MPI_Group_free(&of_half);
}

static void begin(int *argc, char ***argv)
{
    int flag;

    if (is("both"))
        MPI_Init(argc, argv);
    if (is("several"))
        visit(2);
    open_session();
    if (is("later"))
        MPI_Init(argc, argv);
    MPI_Initialized(&flag);
    check(flag == (is("both") || is("later")), "MPI_Init was called, or not");
    look_at_sets();
    make_communicators();
    look_at_errors();
    look_at_info();
    if (is("several") && rank == 0)
        visit(3);
}

static void compute(int i)
{
    int value, all, heard = 0;
    MPI_Status status;
    MPI_Comm copy;

    for (int to = 0; to < size; to++) {
        value = rank * 1000 + i;
        if (to != rank)
            MPI_Send(&value, 1, MPI_INT, to, i, world);
    }
    for (int k = 1; k < size; k++) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, i, world, &status);
        check(value == status.MPI_SOURCE * 1000 + i, "another message");
        mine = mine * 31 + (unsigned long)status.MPI_SOURCE;
        heard += value;
    }
    MPI_Allreduce(&heard, &all, 1, MPI_INT, MPI_SUM, half);
    sum = sum * 17 + (unsigned long)all;
    MPI_Comm_create_from_group(group, "test.again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &copy);
    MPI_Allreduce(&all, &value, 1, MPI_INT, MPI_MAX, copy);
    MPI_Comm_free(&copy);
    sum += (unsigned long)value;
    if (is("several"))
        visit(1 + (rank == 0));
    if (is("inside"))
        open_session();
}

static void end(const char *file)
{
    int flag;

    if (is("later"))
        MPI_Finalize();
    MPI_Finalized(&flag);
    check(flag == is("later"), "MPI_Finalize was called, or not");
    MPI_Barrier(world);
    MPI_Group_free(&group);
    MPI_Comm_free(&half);
    MPI_Comm_free(&world);
    MPI_Session_finalize(&session);
    check(session == MPI_SESSION_NULL, "the session has not ended");
    if (is("both"))
        MPI_Finalize();
    if (is("several"))
        visit(rank == 0 ? 3 : 1);
    if (file && rank == 1 && access(file, F_OK) != 0) {
        fclose(fopen(file, "w"));
        raise(SIGKILL);
    }
}

int main(int argc, char **argv)
{
    unsigned long most = 0;

    how = argc > 1 ? argv[1] : "only";
    begin(&argc, &argv);
    reprise_protect(0, &mine, sizeof mine);
    reprise_protect(1, &sum, sizeof sum);
    REPRISE_LOOP(i, 0, ITERATIONS)
    compute((int)i);
    MPI_Reduce(&sum, &most, 1, MPI_UNSIGNED_LONG, MPI_MAX, 0, world);
    if (rank == 0)
        printf("RESULT most=%lu\n", most);
    if (is("open"))
        return 4;
    end(is("dies") ? argv[2] : NULL);
    if (is("behind")) {
        MPI_Init(&argc, &argv);
        MPI_Finalize();
        open_session();
    }
    fflush(stdout);
    if (is("quick"))
        rank % 2 ? _exit(0) : quick_exit(0);
    return is("status") ? 3 : 0;
}
