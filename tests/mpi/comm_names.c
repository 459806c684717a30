/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// across: names of predefined communicators
// events: none
// about: names, attributes, error handlers, topologies and comparisons of communicators are those
//     of the program
#include "check.h"

static void expect_name(MPI_Comm comm, const char *expected)
{
    char name[MPI_MAX_OBJECT_NAME] = "?";
    int length = -1;

    MPI_Comm_get_name(comm, name, &length);
    CHECK(strcmp(name, expected) == 0, "name \"%s\", not \"%s\"", name, expected);
    CHECK(length == (int)strlen(expected), "length %d", length);
}

static void names(void)
{
    MPI_Comm comm;

    expect_name(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    expect_name(MPI_COMM_SELF, "MPI_COMM_SELF");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "of the test");
    expect_name(comm, "of the test");
    MPI_Comm_set_name(MPI_COMM_WORLD, "renamed");
    expect_name(MPI_COMM_WORLD, "renamed");
    MPI_Comm_free(&comm);
}

static int copies, deletes;

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    static int mark;
    int key, flag = 0, *found = NULL;
    MPI_Comm comm;

    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &mark);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(copies == 1, "%d copies", copies);
    MPI_Comm_get_attr(comm, key, &found, &flag);
    CHECK(flag && found == &mark, "attribute lost");
    MPI_Comm_free(&comm);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    CHECK(deletes == 2, "%d deletes", deletes);
    MPI_Comm_free_keyval(&key);
}

static void error_handlers(void)
{
    MPI_Comm comm;
    MPI_Errhandler handler;

    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    CHECK(handler == MPI_ERRORS_ARE_FATAL, "MPI_COMM_WORLD has another error handler");
    MPI_Errhandler_free(&handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_get_errhandler(comm, &handler);
    CHECK(handler == MPI_ERRORS_RETURN, "error handler not inherited");
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void topologies(void)
{
    static const int dims[] = {2, 2}, periods[] = {1, 0};
    int kind = -1, found[2], wraps[2], place[2], source, dest;
    MPI_Comm cart;

    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK(kind == MPI_UNDEFINED, "topology %d", kind);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Topo_test(cart, &kind);
    CHECK(kind == MPI_CART, "topology %d", kind);
    MPI_Cart_get(cart, 2, found, wraps, place);
    CHECK(found[0] == 2 && found[1] == 2 && wraps[0] == 1 && wraps[1] == 0, "dimensions");
    MPI_Cart_shift(cart, 1, 1, &source, &dest);
    check_note(place[0] * 2 + place[1]);
    check_note(source);
    check_note(dest);
    MPI_Comm_free(&cart);
}

static void comparisons(void)
{
    int result = -1, inter = -1;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_compare(MPI_COMM_WORLD, comm, &result);
    CHECK(result == MPI_CONGRUENT, "comparison %d", result);
    MPI_Comm_compare(comm, comm, &result);
    CHECK(result == MPI_IDENT, "comparison %d", result);
    MPI_Comm_test_inter(comm, &inter);
    CHECK(inter == 0, "intercommunicator");
    MPI_Comm_free(&comm);
}

static void environment(void)
{
    int flag = 0, *upper = NULL, initialized = 0, finalized = 1;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag);
    CHECK(flag && *upper >= 32767, "MPI_TAG_UB");
    check_note(*upper);
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    CHECK(initialized && !finalized, "initialized %d, finalized %d", initialized, finalized);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    names();
    attributes();
    error_handlers();
    topologies();
    comparisons();
    environment();
    return check_end();
}
