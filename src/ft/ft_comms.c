/* SPDX-License-Identifier: MIT */
/*
 * The program's communicators. Each is a list of ranks of the world and a pair of contexts; no real
 * communicator stands behind it that a failure could break. Its handle is a real one, of this
 * process alone: attributes, names, error handlers and conversions to Fortran stay MPI's business.
 * A new context is one above all that its members know.
 *
 * Groups are MPI's own, of the processes that had the ranks at the start: rank i of the world is
 * process i there, whoever has it now.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "ft/ft.h"
#include "reprise.h"

static struct rp_ft_comm *all, *last_found;
static struct rp_ft_comm *world, *self;
static MPI_Group world_group;
static MPI_Comm
    world_attributes; /* which the world itself cannot hold: no process can copy it alone */
int32_t rp_ft_next_context;

enum { CONTEXTS_A_COMM = 2 };

struct rp_ft_comm *rp_ft_comm_of(MPI_Comm handle)
{
    if (last_found && last_found->handle == handle)
        return last_found;
    for (struct rp_ft_comm *comm = all; comm; comm = comm->next)
        if (comm->handle == handle)
            return last_found = comm;
    if (!rp_ft.on)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED, "%s: outside of MPI_Init and MPI_Finalize", rp_ft.call);
    rp_ft_error(world, MPI_ERR_COMM);
    rp_ft_die(REPRISE_EXIT_UNSUPPORTED, "%s: not a communicator that is known", rp_ft.call);
}

struct rp_ft_comm *rp_ft_comm_by_context(int32_t context)
{
    for (struct rp_ft_comm *comm = all; comm; comm = comm->next)
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
    comm->next = all;
    all = comm;
    return comm;
}

void rp_ft_comms_start(void)
{
    int *ranks = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *ranks);
    MPI_Group real;

    for (int i = 0; i < rp_ft.ranks; i++)
        ranks[i] = i;
    self = add(MPI_COMM_SELF, 2, 1, &rp_ft.rank);
    world = add(MPI_COMM_WORLD, 0, rp_ft.ranks, ranks);
    rp_ft_next_context = 4;
    rp_real.Comm_dup(MPI_COMM_SELF, &world_attributes);
    rp_real.Comm_group(rp_ft.world,
                       &real); /* any processes will do, one for each rank: MPI_COMM_WORLD of one
                                  that was started later has fewer */
    rp_real.Group_incl(real, rp_ft.ranks, ranks, &world_group);
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
    for (struct rp_ft_comm *comm = all; comm; comm = comm->next)
        if (comm == wanted)
            return rp_ft_error(comm, code);
    return rp_ft_error(world, code);
}

const struct rp_ft_comm *rp_ft_comm_made_in_loop(void)
{
    for (struct rp_ft_comm *comm = all; comm; comm = comm->next)
        if (comm->in_loop)
            return comm;
    return NULL;
}

static MPI_Comm holder(MPI_Comm handle)
{
    return handle == MPI_COMM_WORLD ? world_attributes : handle;
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

/* What members tell each other: the next context, and what the call needs. */
struct offer {
    int32_t next_context;
    int32_t color, key;
};

/* What we offer is not offered again meanwhile, by a call that does not wait for this one. */
static struct offer *exchange_offers(struct rp_ft_comm *comm, int color, int key, int32_t *context)
{
    struct offer mine = {rp_ft_next_context, color, key},
                 *offers = rp_ft_alloc((size_t)comm->size * sizeof *offers);

    rp_ft_next_context += CONTEXTS_A_COMM;
    rp_ft_allgather(comm, &mine, sizeof mine, offers);
    *context = 0;
    for (int i = 0; i < comm->size; i++)
        if (offers[i].next_context > *context)
            *context = offers[i].next_context;
    return offers;
}

void rp_ft_context_is_used(int32_t context)
{
    if (rp_ft_next_context < context + CONTEXTS_A_COMM)
        rp_ft_next_context = context + CONTEXTS_A_COMM;
}

static struct offer *exchange(struct rp_ft_comm *comm, int color, int key, int32_t *context)
{
    struct offer *offers = exchange_offers(comm, color, key, context);

    rp_ft_context_is_used(*context);
    return offers;
}

static int *copy_ints(const int *from, int count)
{
    int *copy = from ? rp_ft_alloc((size_t)count * sizeof *copy) : NULL;

    if (copy && count > 0)
        memcpy(copy, from, (size_t)count * sizeof *copy);
    return copy;
}

static void copy_topology(const struct rp_ft_comm *from, struct rp_ft_comm *to)
{
    to->topology = from->topology;
    to->dims = from->dims;
    to->dim = copy_ints(from->dim, from->dims);
    to->periodic = copy_ints(from->periodic, from->dims);
    to->coords = copy_ints(from->coords, from->dims);
    to->in_degree = from->in_degree;
    to->out_degree = from->out_degree;
    to->in = copy_ints(from->in, from->in_degree);
    to->out = copy_ints(from->out, from->out_degree);
    to->in_w = copy_ints(from->in_w, from->in_degree);
    to->out_w = copy_ints(from->out_w, from->out_degree);
    to->weighted = from->weighted;
}

static MPI_Comm copy(struct rp_ft_comm *comm, int32_t context)
{
    struct rp_ft_comm *new = add(new_handle(comm, true), context, comm->size, comm->members);

    copy_topology(comm, new);
    return new->handle;
}

int rp_ft_Comm_dup(MPI_Comm old, MPI_Comm *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(old);
    int32_t context;

    free(exchange(comm, 0, 0, &context));
    *out = copy(comm, context);
    return MPI_SUCCESS;
}

struct idup {
    struct rp_ft_comm *old;
    MPI_Comm *out;
    struct rp_ft_request *request;
};

/* When it is done is left open, when the program hears of it is not: the context counts from then
 * on. */
static void dup_in_background(void *data)
{
    struct idup *idup = data;

    free(exchange_offers(idup->old, 0, 0, &idup->request->context));
    *idup->out = copy(idup->old, idup->request->context);
    idup->request->done = true;
    free(idup);
}

int rp_ft_Comm_idup(MPI_Comm old, MPI_Comm *out, MPI_Request *request)
{
    struct idup *idup = rp_ft_alloc(sizeof *idup);

    *idup = (struct idup){rp_ft_comm_of(old), out,
                          rp_ft_request_new(RP_FT_COLLECTIVE, rp_ft_comm_of(old))};
    idup->request->active = true;
    rp_ft_requests_active++;
    *request = (MPI_Request)idup->request;
    rp_ft_coroutine_start(dup_in_background, idup);
    return MPI_SUCCESS;
}

int rp_ft_Comm_dup_with_info(MPI_Comm old, MPI_Info info, MPI_Comm *out)
{
    (void)info;
    return rp_ft_Comm_dup(old, out);
}

static const struct offer *sorted_by;

static int by_key(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b,
        by = (sorted_by[x].key > sorted_by[y].key) - (sorted_by[x].key < sorted_by[y].key);

    return by ? by : x - y;
}

static struct rp_ft_comm *split(struct rp_ft_comm *comm, int color, int key)
{
    int32_t context;
    int count = 0, *chosen = rp_ft_alloc((size_t)comm->size * sizeof *chosen);
    struct offer *offers = exchange(comm, color, key, &context);
    struct rp_ft_comm *new = NULL;

    for (int i = 0; i < comm->size; i++)
        if (offers[i].color == color)
            chosen[count++] = i;
    sorted_by = offers;
    qsort(chosen, (size_t)count, sizeof *chosen, by_key);
    for (int i = 0; i < count; i++)
        chosen[i] = comm->members[chosen[i]];
    if (color != MPI_UNDEFINED)
        new = add(new_handle(comm, false), context, count, chosen);
    free(offers);
    free(chosen);
    return new;
}

int rp_ft_Comm_split(MPI_Comm old, int color, int key, MPI_Comm *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(old);

    struct rp_ft_comm *new = split(comm, color, key);
    *out = new ? new->handle : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* Which ranks share a host must not change with who has them: all do, or none but itself. A rank
 * that moves would find itself elsewhere. */
int rp_ft_Comm_split_type(MPI_Comm old, int type, int key, MPI_Info info, MPI_Comm *out)
{
    (void)info;
    if (type != MPI_UNDEFINED && type != MPI_COMM_TYPE_SHARED)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "MPI_Comm_split_type: of a type that reprise ft does not know");
    return rp_ft_Comm_split(old, type == MPI_UNDEFINED ? MPI_UNDEFINED : rp_ft_comm_of(old)->rank,
                            key, out);
}

static int *ranks_of_group(MPI_Group group, int *count)
{
    rp_real.Group_size(group, count);
    int *theirs = rp_ft_alloc((size_t)*count * sizeof *theirs),
        *ours = rp_ft_alloc((size_t)*count * sizeof *ours);
    for (int i = 0; i < *count; i++)
        theirs[i] = i;
    rp_real.Group_translate_ranks(group, *count, theirs, world_group, ours);
    free(theirs);
    return ours;
}

int rp_ft_Comm_create(MPI_Comm old, MPI_Group group, MPI_Comm *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(old);
    int count, *ranks, place = MPI_UNDEFINED;
    int32_t context;

    ranks = ranks_of_group(group, &count);
    free(exchange(comm, 0, 0, &context));
    for (int i = 0; i < count; i++)
        if (ranks[i] == rp_ft.rank)
            place = i;
    *out = place == MPI_UNDEFINED ? MPI_COMM_NULL
                                  : add(new_handle(comm, false), context, count, ranks)->handle;
    free(ranks);
    return MPI_SUCCESS;
}

/* Members agree on a context by messages in the parent's own, by a tag that only such calls use. */
int rp_ft_Comm_create_group(MPI_Comm old, MPI_Group group, int tag, MPI_Comm *out)
{
    enum { CREATE_GROUP = 1 << 20 };
    struct rp_ft_comm *comm = rp_ft_comm_of(old), among = {0};
    int count, *ranks = ranks_of_group(group, &count), place = MPI_UNDEFINED;
    int32_t next = rp_ft_next_context;

    for (int i = 0; i < count; i++)
        if (ranks[i] == rp_ft.rank)
            place = i;
    *out = MPI_COMM_NULL;
    if (place != MPI_UNDEFINED) {
        among = (struct rp_ft_comm){.rank = place, .size = count, .members = ranks};
        int32_t theirs, own = CREATE_GROUP + tag % CREATE_GROUP;
        for (int i = 1; i < count && place == 0; i++) {
            rp_ft_finish(rp_ft_receive(&among, comm->context + 1, i, -own, &theirs, 1, MPI_INT));
            next = theirs > next ? theirs : next;
        }
        if (place > 0) {
            rp_ft_send(&among, comm->context + 1, 0, -own, &next, 1, MPI_INT, 0, NULL);
            rp_ft_finish(rp_ft_receive(&among, comm->context + 1, 0, -own, &next, 1, MPI_INT));
        }
        for (int i = 1; i < count && place == 0; i++)
            rp_ft_send(&among, comm->context + 1, i, -own, &next, 1, MPI_INT, 0, NULL);
        rp_ft_next_context = next + CONTEXTS_A_COMM;
        *out = add(new_handle(comm, false), next, count, ranks)->handle;
    }
    free(ranks);
    return MPI_SUCCESS;
}

static void drop(struct rp_ft_comm *comm)
{
    struct rp_ft_comm **link = &all;

    while (*link != comm)
        link = &(*link)->next;
    *link = comm->next;
    last_found = NULL;
    if (rp_ft_requests_active == 0)
        free(comm->members);
    free(comm->dim);
    free(comm->periodic);
    free(comm->coords);
    free(comm->in);
    free(comm->out);
    free(comm->in_w);
    free(comm->out_w);
    if (rp_ft_requests_active == 0) /* else one may still be of it */
        free(comm);
}

void rp_ft_comms_forget_loop(void)
{
    struct rp_ft_comm *next;

    for (struct rp_ft_comm *comm = all; comm; comm = next) {
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

    if (comm == world || comm == self)
        return rp_ft_error(world, MPI_ERR_COMM);
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

    return rp_real.Group_incl(world_group, comm->size, comm->members, group);
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
    return rp_real.Group_translate_ranks(world_group, 1, &rp_ft.rank, group, rank);
}

/* Topologies */

static struct rp_ft_comm *cart_of(MPI_Comm handle)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);

    if (comm->topology != RP_FT_CART) {
        rp_ft_error(comm, MPI_ERR_TOPOLOGY);
        return NULL;
    }
    return comm;
}

static void coords_of(const struct rp_ft_comm *comm, int rank, int *coords)
{
    for (int i = comm->dims - 1; i >= 0; i--) {
        coords[i] = rank % comm->dim[i];
        rank /= comm->dim[i];
    }
}

/* MPI_PROC_NULL: outside. */
static int rank_at(const struct rp_ft_comm *comm, const int *coords)
{
    int rank = 0;

    for (int i = 0; i < comm->dims; i++) {
        int at = coords[i], extent = comm->dim[i];
        if (comm->periodic[i])
            at = (at % extent + extent) % extent;
        if (at < 0 || at >= extent)
            return MPI_PROC_NULL;
        rank = rank * extent + at;
    }
    return rank;
}

static void set_cart(struct rp_ft_comm *comm, int dims, const int *dim, const int *periodic)
{
    comm->topology = RP_FT_CART;
    comm->dims = dims;
    comm->dim = copy_ints(dim, dims);
    comm->periodic = copy_ints(periodic, dims);
    comm->coords = rp_ft_alloc((size_t)dims * sizeof(int));
    coords_of(comm, comm->rank, comm->coords);
    comm->in_degree = comm->out_degree = 2 * dims;
    comm->in = rp_ft_alloc((size_t)(2 * dims) * sizeof(int));
    for (int i = 0; i < 2 * dims; i++) {
        int *at = copy_ints(comm->coords, dims);
        at[i / 2] += i % 2 ? 1 : -1;
        comm->in[i] = rank_at(comm, at);
        free(at);
    }
    comm->out = copy_ints(comm->in, 2 * dims);
}

int rp_ft_Cart_create(MPI_Comm old, int dims, const int *dim, const int *periodic, int reorder,
                      MPI_Comm *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(old), *new;
    int needed = 1;

    (void)reorder;
    for (int i = 0; i < dims; i++)
        needed *= dim[i];
    if (needed > comm->size)
        return rp_ft_error(comm, MPI_ERR_DIMS);
    new = split(comm, comm->rank < needed ? 0 : MPI_UNDEFINED, comm->rank);
    if (new)
        set_cart(new, dims, dim, periodic);
    *out = new ? new->handle : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int rp_ft_Cart_sub(MPI_Comm old, const int *remain, MPI_Comm *out)
{
    struct rp_ft_comm *comm = cart_of(old), *new;
    int color = 0, key = 0, dims = 0, *dim, *periodic;

    if (!comm)
        return MPI_ERR_TOPOLOGY;
    dim = rp_ft_alloc((size_t)comm->dims * sizeof *dim);
    periodic = rp_ft_alloc((size_t)comm->dims * sizeof *periodic);
    for (int i = 0; i < comm->dims; i++) {
        if (remain[i]) {
            key = key * comm->dim[i] + comm->coords[i];
            dim[dims] = comm->dim[i];
            periodic[dims++] = comm->periodic[i];
        } else {
            color = color * comm->dim[i] + comm->coords[i];
        }
    }
    new = split(comm, color, key);
    set_cart(new, dims, dim, periodic);
    free(dim);
    free(periodic);
    *out = new->handle;
    return MPI_SUCCESS;
}

int rp_ft_Cart_coords(MPI_Comm handle, int rank, int most, int *coords)
{
    struct rp_ft_comm *comm = cart_of(handle);

    if (!comm || most < comm->dims)
        return MPI_ERR_TOPOLOGY;
    coords_of(comm, rank, coords);
    return MPI_SUCCESS;
}

int rp_ft_Cart_rank(MPI_Comm handle, const int *coords, int *rank)
{
    struct rp_ft_comm *comm = cart_of(handle);

    if (!comm)
        return MPI_ERR_TOPOLOGY;
    *rank = rank_at(comm, coords);
    return *rank == MPI_PROC_NULL ? rp_ft_error(comm, MPI_ERR_ARG) : MPI_SUCCESS;
}

int rp_ft_Cart_get(MPI_Comm handle, int most, int *dim, int *periodic, int *coords)
{
    struct rp_ft_comm *comm = cart_of(handle);

    if (!comm || most < comm->dims)
        return MPI_ERR_TOPOLOGY;
    for (int i = 0; i < comm->dims; i++) {
        dim[i] = comm->dim[i];
        periodic[i] = comm->periodic[i];
        coords[i] = comm->coords[i];
    }
    return MPI_SUCCESS;
}

int rp_ft_Cartdim_get(MPI_Comm handle, int *dims)
{
    struct rp_ft_comm *comm = cart_of(handle);

    if (!comm)
        return MPI_ERR_TOPOLOGY;
    *dims = comm->dims;
    return MPI_SUCCESS;
}

int rp_ft_Cart_shift(MPI_Comm handle, int direction, int by, int *source, int *dest)
{
    struct rp_ft_comm *comm = cart_of(handle);
    int *at;

    if (!comm || direction < 0 || direction >= comm->dims)
        return comm ? rp_ft_error(comm, MPI_ERR_ARG) : MPI_ERR_TOPOLOGY;
    at = copy_ints(comm->coords, comm->dims);
    at[direction] += by;
    *dest = rank_at(comm, at);
    at[direction] -= 2 * by;
    *source = rank_at(comm, at);
    free(at);
    return MPI_SUCCESS;
}

int rp_ft_Cart_map(MPI_Comm handle, int dims, const int *dim, const int *periodic, int *rank)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);
    int needed = 1;

    (void)periodic;
    for (int i = 0; i < dims; i++)
        needed *= dim[i];
    *rank = comm->rank < needed ? comm->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int rp_ft_Topo_test(MPI_Comm handle, int *kind)
{
    static const int kinds[] = {MPI_UNDEFINED, MPI_CART, MPI_DIST_GRAPH};

    *kind = kinds[rp_ft_comm_of(handle)->topology];
    return MPI_SUCCESS;
}

int rp_ft_Dist_graph_create_adjacent(MPI_Comm old, int in_degree, const int *in, const int *in_w,
                                     int out_degree, const int *out, const int *out_w,
                                     MPI_Info info, int reorder, MPI_Comm *made)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(old);
    int32_t context;

    (void)info, (void)reorder;
    free(exchange(comm, 0, 0, &context));
    struct rp_ft_comm *new = add(new_handle(comm, false), context, comm->size, comm->members);
    new->topology = RP_FT_DIST_GRAPH;
    new->in_degree = in_degree;
    new->out_degree = out_degree;
    new->in = copy_ints(in, in_degree);
    new->out = copy_ints(out, out_degree);
    new->weighted = in_w != MPI_UNWEIGHTED &&out_w != MPI_UNWEIGHTED;
    if (new->weighted) {
        new->in_w = copy_ints(in_w, in_degree);
        new->out_w = copy_ints(out_w, out_degree);
    }
    *made = new->handle;
    return MPI_SUCCESS;
}

int rp_ft_Dist_graph_neighbors_count(MPI_Comm handle, int *in, int *out, int *weighted)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);

    if (comm->topology != RP_FT_DIST_GRAPH)
        return rp_ft_error(comm, MPI_ERR_TOPOLOGY);
    *in = comm->in_degree;
    *out = comm->out_degree;
    *weighted = comm->weighted;
    return MPI_SUCCESS;
}

int rp_ft_Dist_graph_neighbors(MPI_Comm handle, int most_in, int *in, int *in_w, int most_out,
                               int *out, int *out_w)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);

    if (comm->topology != RP_FT_DIST_GRAPH)
        return rp_ft_error(comm, MPI_ERR_TOPOLOGY);
    for (int i = 0; i < most_in && i < comm->in_degree; i++) {
        in[i] = comm->in[i];
        if (comm->weighted)
            in_w[i] = comm->in_w[i];
    }
    for (int i = 0; i < most_out && i < comm->out_degree; i++) {
        out[i] = comm->out[i];
        if (comm->weighted)
            out_w[i] = comm->out_w[i];
    }
    return MPI_SUCCESS;
}
