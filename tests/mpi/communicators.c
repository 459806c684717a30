/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// across: how many ranks share memory (MPI_COMM_TYPE_SHARED)
// about: wildcards on communicators of every origin, on handles used again, and on several
//     communicators at once
#include "check.h"

enum { TAG = 1, GENERATIONS = 30, AT_ONCE = 3 };

static MPI_Comm make_dup(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

static MPI_Comm make_dup_with_info(void)
{
    MPI_Comm comm;

    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    return comm;
}

static MPI_Comm make_idup(void)
{
    MPI_Comm comm;
    MPI_Request request;

    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return comm;
}

static MPI_Comm make_split(void)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, check.rank == 1, -check.rank,
                   &comm); // three in reverse, and one alone
    return comm;
}

static MPI_Comm make_split_undefined(void)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, check.rank == 2 ? MPI_UNDEFINED : 0, 0, &comm);
    CHECK((comm == MPI_COMM_NULL) == (check.rank == 2), "null communicator");
    return comm;
}

static MPI_Comm make_split_type(void)
{
    MPI_Comm comm;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    return comm;
}

// All but rank 3, in another order.
static MPI_Group make_group(void)
{
    static const int ranks[] = {2, 0, 1};
    MPI_Group world, group;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 3, ranks, &group);
    MPI_Group_free(&world);
    return group;
}

static MPI_Comm make_create(void)
{
    MPI_Comm comm;
    MPI_Group group = make_group();

    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    MPI_Group_free(&group);
    return comm;
}

static MPI_Comm make_create_group(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group group = make_group();

    if (check.rank != 3)
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm);
    MPI_Group_free(&group);
    return comm;
}

static MPI_Comm make_cart(void)
{
    static const int dims[] = {2, 2}, periods[] = {1, 1};
    MPI_Comm comm;

    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    return comm;
}

static MPI_Comm make_cart_sub(void)
{
    static const int dims[] = {1, 4}, periods[] = {0, 0}, remain[] = {0, 1};
    MPI_Comm cart, comm;

    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Cart_sub(cart, remain, &comm);
    MPI_Comm_free(&cart);
    return comm;
}

static MPI_Comm make_graph(void)
{
    static const int index[] = {1, 2, 3, 4}, edges[] = {1, 2, 3, 0};
    MPI_Comm comm;

    MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &comm);
    return comm;
}

static MPI_Comm make_dist_graph(void)
{
    int degree = 1, next = (check.rank + 1) % check.size;
    MPI_Comm comm;

    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &check.rank, &degree, &next, MPI_UNWEIGHTED,
                          MPI_INFO_NULL, 0, &comm);
    return comm;
}

static MPI_Comm make_dist_graph_adjacent(void)
{
    int next = (check.rank + 1) % check.size, previous = (check.rank + check.size - 1) % check.size;
    MPI_Comm comm;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    return comm;
}

static void note(long value, const MPI_Status *status)
{
    check_note(value);
    check_note_status(status);
}

// All to rank 0 of the communicator, through every second time a posted receive.
static void gather_wild(MPI_Comm comm, int step)
{
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank != 0) {
        check_pace(step);
        check_send(0, TAG, step, comm);
    }
    for (int i = 1; rank == 0 && i < size; i++) {
        long value = -1;
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, i % 2 ? TAG : MPI_ANY_TAG, comm, &request);
        MPI_Wait(&request, &status);
        note(value, &status);
    }
}

static void on_each_kind(void)
{
    static MPI_Comm (*const makers[])(void) = {make_dup,
                                               make_dup_with_info,
                                               make_idup,
                                               make_split,
                                               make_split_undefined,
                                               make_split_type,
                                               make_create,
                                               make_create_group,
                                               make_cart,
                                               make_cart_sub,
                                               make_graph,
                                               make_dist_graph,
                                               make_dist_graph_adjacent};

    for (int i = 0; i < (int)(sizeof makers / sizeof *makers); i++) {
        MPI_Comm comm = makers[i]();
        if (comm == MPI_COMM_NULL)
            continue;
        gather_wild(comm, i);
        MPI_Comm_free(&comm);
        CHECK(comm == MPI_COMM_NULL, "communicator not null after free");
    }
}

// Handles and context ids come back. Only some generations are paced, to save time.
static void in_generations(void)
{
    MPI_Comm kept = MPI_COMM_NULL;

    for (int i = 0; i < GENERATIONS; i++) {
        MPI_Comm comm = i % 2 ? make_dup() : make_create();
        if (comm != MPI_COMM_NULL && i % 10 < 2)
            gather_wild(comm, i);
        if (kept != MPI_COMM_NULL)
            MPI_Comm_free(&kept);
        kept = comm;
    }
    if (kept != MPI_COMM_NULL)
        MPI_Comm_free(&kept);
}

static void receive_on_several(MPI_Comm *comms)
{
    int index, left[AT_ONCE];
    long values[AT_ONCE];
    MPI_Request requests[AT_ONCE];
    MPI_Status status;

    for (int i = 0; i < AT_ONCE; i++) {
        left[i] = check.size - 2;
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, comms[i], &requests[i]);
    }
    while (MPI_Waitany(AT_ONCE, requests, &index, &status), index != MPI_UNDEFINED) {
        check_note(index);
        note(values[index], &status);
        if (left[index]-- > 0)
            MPI_Irecv(&values[index], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, comms[index],
                      &requests[index]);
    }
}

static void on_several(void)
{
    MPI_Comm comms[AT_ONCE] = {make_dup(), make_idup(), make_cart()};

    if (check.rank == 0)
        receive_on_several(comms);
    for (int i = 0; check.rank > 0 && i < AT_ONCE; i++) {
        check_pace(i);
        check_send(0, TAG, i, comms[(check.rank + i) % AT_ONCE]);
    }
    for (int i = 0; i < AT_ONCE; i++)
        MPI_Comm_free(&comms[i]);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    on_each_kind();
    in_generations();
    on_several();
    return check_end();
}
