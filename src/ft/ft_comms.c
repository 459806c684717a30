/* SPDX-License-Identifier: MIT */
/*
 * The program's communicators. Each is a list of ranks of the world and a pair of contexts; no real
 * communicator stands behind it that a failure could break. Its handle is a real one, that only
 * this process knows: attributes, names, error handlers and conversions to Fortran are left to MPI.
 * A new context is one above all that its members know.
 *
 * Groups are MPI's own, of the processes that had the ranks at the start: rank i of the world is
 * process i there, whoever has it now.
 */
#include "ft/ft_comms.h"

#include <stdlib.h>
#include <string.h>

#include "ft/ft_abort.h"
#include "ft/ft_state.h"
#include "reprise.h"

static struct {
    struct rp_ft_comm *all, *last_found;
    struct rp_ft_comm *world, *self;
    MPI_Group world_group;
    MPI_Comm attributes; /* of the world, which cannot hold them: no process can copy it alone */
    int32_t next_context;
} comms;

struct rp_ft_comm *rp_ft_comm_of(MPI_Comm handle)
{
    if (comms.last_found && comms.last_found->handle == handle)
        return comms.last_found;
    for (struct rp_ft_comm *comm = comms.all; comm; comm = comm->next)
        if (comm->handle == handle)
            return comms.last_found = comm;
    if (!rp_ft.on)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED, "%s: outside of MPI_Init and MPI_Finalize", rp_ft.call);
    rp_ft_error(comms.world, MPI_ERR_COMM);
    rp_ft_die(REPRISE_EXIT_UNSUPPORTED, "%s: not a communicator that is known", rp_ft.call);
}

struct rp_ft_comm *rp_ft_comm_world(void)
{
    return rp_ft_comm_of(MPI_COMM_WORLD);
}

struct rp_ft_comm *rp_ft_comm_by_context(int32_t context)
{
    for (struct rp_ft_comm *comm = comms.all; comm; comm = comm->next)
        if (comm->context == context)
            return comm;
    return NULL;
}

static struct rp_ft_comm *add(MPI_Comm handle, int32_t context, int size, const int *members)
{
    struct rp_ft_comm *comm = rp_ft_alloc(sizeof *comm);

    if (rp_ft_comm_by_context(context))
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "%s: communicators are made at the same time by MPI_Comm_idup and otherwise, or "
                  "in another order by another rank: wait for one before the next",
                  rp_ft.call);
    comm->handle = handle;
    comm->context = context;
    comm->size = size;
    comm->rank = MPI_UNDEFINED;
    comm->members = rp_ft_alloc((size_t)size * sizeof *members);
    for (int i = 0; i < size; i++) {
        comm->members[i] = members[i];
        if (members[i] == rp_ft.rank)
            comm->rank = i;
    }
    comm->in_loop = !rp_ft.in_setup;
    comm->next = comms.all;
    comms.all = comm;
    return comm;
}

void rp_ft_comms_start(void)
{
    int *ranks = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *ranks);
    MPI_Group real;

    for (int i = 0; i < rp_ft.ranks; i++)
        ranks[i] = i;
    comms.self = add(MPI_COMM_SELF, 2, 1, &rp_ft.rank);
    comms.world = add(MPI_COMM_WORLD, 0, rp_ft.ranks, ranks);
    comms.next_context = 4;
    rp_real.Comm_dup(MPI_COMM_SELF, &comms.attributes);
    /* Any processes will do, one for each rank: MPI_COMM_WORLD of one that was started later has
     * fewer. */
    rp_real.Comm_group(rp_ft.world, &real);
    rp_real.Group_incl(real, rp_ft.ranks, ranks, &comms.world_group);
    rp_real.Group_free(&real);
    free(ranks);
}

int rp_ft_world_rank(const struct rp_ft_comm *comm, int peer)
{
    return comm->members[peer];
}

int rp_ft_error(struct rp_ft_comm *comm, int code)
{
    rp_real.Comm_call_errhandler(comm->handle, code);
    return code;
}

int rp_ft_error_of(const struct rp_ft_comm *wanted, int code)
{
    for (struct rp_ft_comm *comm = comms.all; comm; comm = comm->next)
        if (comm == wanted)
            return rp_ft_error(comm, code);
    return rp_ft_error(comms.world, code);
}

bool rp_ft_comms_has_of_loop(void)
{
    for (struct rp_ft_comm *comm = comms.all; comm; comm = comm->next)
        if (comm->in_loop)
            return true;
    return false;
}

static MPI_Comm holder(MPI_Comm handle)
{
    return handle == MPI_COMM_WORLD ? comms.attributes : handle;
}

/* With its parent's error handler; in a copy, with its attributes. */
static MPI_Comm new_handle(const struct rp_ft_comm *parent, bool copies)
{
    MPI_Comm handle;
    MPI_Errhandler handler;

    if (rp_real.Comm_dup(copies ? holder(parent->handle) : MPI_COMM_SELF, &handle) != MPI_SUCCESS)
        rp_ft_die(REPRISE_EXIT_INTERNAL, "%s: cannot make a handle", rp_ft.call);
    rp_real.Comm_get_errhandler(parent->handle, &handler);
    rp_real.Comm_set_errhandler(handle, handler);
    rp_real.Errhandler_free(&handler);
    return handle;
}

struct rp_ft_comm *rp_ft_comm_add(const struct rp_ft_comm *parent, bool copies, int32_t context,
                                  int size, const int *members)
{
    return add(new_handle(parent, copies), context, size, members);
}

int *rp_ft_copy_ints(const int *from, int count)
{
    int *copy = from ? rp_ft_alloc((size_t)count * sizeof *copy) : NULL;

    if (copy && count > 0)
        memcpy(copy, from, (size_t)count * sizeof *copy);
    return copy;
}

void rp_ft_comm_copy_topology(const struct rp_ft_comm *from, struct rp_ft_comm *to)
{
    to->topology = from->topology;
    to->dims = from->dims;
    to->dim = rp_ft_copy_ints(from->dim, from->dims);
    to->periodic = rp_ft_copy_ints(from->periodic, from->dims);
    to->coords = rp_ft_copy_ints(from->coords, from->dims);
    to->in_degree = from->in_degree;
    to->out_degree = from->out_degree;
    to->in = rp_ft_copy_ints(from->in, from->in_degree);
    to->out = rp_ft_copy_ints(from->out, from->out_degree);
    to->in_w = rp_ft_copy_ints(from->in_w, from->in_degree);
    to->out_w = rp_ft_copy_ints(from->out_w, from->out_degree);
    to->weighted = from->weighted;
}

int *rp_ft_comm_ranks_of_group(MPI_Group group, int *count)
{
    rp_real.Group_size(group, count);
    int *theirs = rp_ft_alloc((size_t)*count * sizeof *theirs),
        *ours = rp_ft_alloc((size_t)*count * sizeof *ours);
    for (int i = 0; i < *count; i++)
        theirs[i] = i;
    rp_real.Group_translate_ranks(group, *count, theirs, comms.world_group, ours);
    free(theirs);
    return ours;
}

int rp_ft_Comm_set_attr(MPI_Comm handle, int key, void *value)
{
    return rp_real.Comm_set_attr(holder(handle), key, value);
}

int rp_ft_Comm_delete_attr(MPI_Comm handle, int key)
{
    return rp_real.Comm_delete_attr(holder(handle), key);
}

/* What MPI says about the world is with the world. */
int rp_ft_Comm_get_attr(MPI_Comm handle, int key, void *value, int *flag)
{
    int error = rp_real.Comm_get_attr(holder(handle), key, value, flag);

    if (error == MPI_SUCCESS && !*flag && handle == MPI_COMM_WORLD)
        error = rp_real.Comm_get_attr(handle, key, value, flag);
    return error;
}

int rp_ft_Attr_put(MPI_Comm handle, int key, void *value)
{
    return rp_ft_Comm_set_attr(handle, key, value);
}

int rp_ft_Attr_delete(MPI_Comm handle, int key)
{
    return rp_ft_Comm_delete_attr(handle, key);
}

int rp_ft_Attr_get(MPI_Comm handle, int key, void *value, int *flag)
{
    return rp_ft_Comm_get_attr(handle, key, value, flag);
}

static void drop(struct rp_ft_comm *comm)
{
    struct rp_ft_comm **link = &comms.all;

    while (*link != comm)
        link = &(*link)->next;
    *link = comm->next;
    comms.last_found = NULL;
    if (rp_ft.active_requests == 0)
        free(comm->members);
    free(comm->dim);
    free(comm->periodic);
    free(comm->coords);
    free(comm->in);
    free(comm->out);
    free(comm->in_w);
    free(comm->out_w);
    if (rp_ft.active_requests == 0) /* else one may still be of it */
        free(comm);
}

void rp_ft_comms_forget_loop(void)
{
    struct rp_ft_comm *next;

    for (struct rp_ft_comm *comm = comms.all; comm; comm = next) {
        next = comm->next;
        if (comm->in_loop) {
            rp_real.Comm_free(&comm->handle);
            drop(comm);
        }
    }
}

int rp_ft_Comm_free(MPI_Comm *handle)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(*handle);

    if (comm == comms.world || comm == comms.self)
        return rp_ft_error(comms.world, MPI_ERR_COMM);
    rp_real.Comm_free(&comm->handle);
    drop(comm);
    *handle = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int rp_ft_Comm_disconnect(MPI_Comm *handle)
{
    return rp_ft_Comm_free(handle);
}

int rp_ft_Comm_rank(MPI_Comm handle, int *rank)
{
    *rank = rp_ft_comm_of(handle)->rank;
    return MPI_SUCCESS;
}

int rp_ft_Comm_size(MPI_Comm handle, int *size)
{
    *size = rp_ft_comm_of(handle)->size;
    return MPI_SUCCESS;
}

/* Nobody spawned us. */
int rp_ft_Comm_get_parent(MPI_Comm *parent)
{
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int rp_ft_Comm_test_inter(MPI_Comm handle, int *flag)
{
    (void)rp_ft_comm_of(handle);
    *flag = 0;
    return MPI_SUCCESS;
}

int rp_ft_Comm_group(MPI_Comm handle, MPI_Group *group)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);

    return rp_real.Group_incl(comms.world_group, comm->size, comm->members, group);
}

int rp_ft_Comm_compare(MPI_Comm a, MPI_Comm b, int *result)
{
    struct rp_ft_comm *x = rp_ft_comm_of(a), *y = rp_ft_comm_of(b);
    MPI_Group g, h;

    if (x == y) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    rp_ft_Comm_group(a, &g);
    rp_ft_Comm_group(b, &h);
    rp_real.Group_compare(g, h, result);
    if (*result == MPI_IDENT)
        *result = MPI_CONGRUENT;
    rp_real.Group_free(&g);
    rp_real.Group_free(&h);
    return MPI_SUCCESS;
}

/* Its place is its rank's, whichever process has that now. */
int rp_ft_Group_rank(MPI_Group group, int *rank)
{
    if (group == MPI_GROUP_EMPTY) {
        *rank = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    return rp_real.Group_translate_ranks(comms.world_group, 1, &rp_ft.rank, group, rank);
}

void rp_ft_context_is_used(int32_t context)
{
    if (comms.next_context < context + RP_FT_CONTEXTS_A_COMM)
        comms.next_context = context + RP_FT_CONTEXTS_A_COMM;
}

int32_t rp_ft_next_context(void)
{
    return comms.next_context;
}

void rp_ft_set_next_context(int32_t context)
{
    comms.next_context = context;
}
