/* SPDX-License-Identifier: MIT */
/*
 * Communicators are made. The members exchange the next context that each of them has free;
 * the greatest is that of the new communicator.
 */
#include "ft/ft_comm_create.h"

#include <stdlib.h>

#include "ft/ft_abort.h"
#include "ft/ft_collectives.h"
#include "ft/ft_coroutines.h"
#include "ft/ft_pt2pt.h"
#include "ft/ft_request.h"
#include "ft/ft_state.h"
#include "reprise.h"

/* What members exchange: the next context, and what the call needs. */
struct offer {
    int32_t next_context;
    int32_t color, key;
};

/* What we offer is not offered again meanwhile, by a call that does not wait for this one. */
static struct offer *exchange_offers(struct rp_ft_comm *comm, int color, int key, int32_t *context)
{
    struct offer own = {rp_ft_next_context(), color, key},
                 *offers = rp_ft_alloc((size_t)comm->size * sizeof *offers);

    rp_ft_context_is_used(own.next_context);
    rp_ft_allgather(comm, &own, sizeof own, offers);
    *context = 0;
    for (int i = 0; i < comm->size; i++)
        if (offers[i].next_context > *context)
            *context = offers[i].next_context;
    return offers;
}

static struct offer *exchange(struct rp_ft_comm *comm, int color, int key, int32_t *context)
{
    struct offer *offers = exchange_offers(comm, color, key, context);

    rp_ft_context_is_used(*context);
    return offers;
}

int32_t rp_ft_comm_agree_context(struct rp_ft_comm *comm)
{
    int32_t context;

    free(exchange(comm, 0, 0, &context));
    return context;
}

static MPI_Comm copy(struct rp_ft_comm *comm, int32_t context)
{
    struct rp_ft_comm *new = rp_ft_comm_add(comm, true, context, comm->size, comm->members);

    rp_ft_comm_copy_topology(comm, new);
    return new->handle;
}

int rp_ft_Comm_dup(MPI_Comm old, MPI_Comm *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(old);

    *out = copy(comm, rp_ft_comm_agree_context(comm));
    return MPI_SUCCESS;
}

struct idup {
    struct rp_ft_comm *old;
    MPI_Comm *out;
    struct rp_ft_request *request;
};

/* The moment when the operation is done is left open. The moment when the program learns of it is
 * not: the context counts from then on. */
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
    rp_ft.active_requests++;
    *request = (MPI_Request)idup->request;
    rp_ft_coroutine_start(dup_in_background, idup);
    return MPI_SUCCESS;
}

int rp_ft_Comm_dup_with_info(MPI_Comm old, MPI_Info info, MPI_Comm *out)
{
    (void)info;
    return rp_ft_Comm_dup(old, out);
}

static struct {
    const struct offer *offers; /* by which members are sorted */
} sorting;

static int by_key(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b,
        by = (sorting.offers[x].key > sorting.offers[y].key) -
             (sorting.offers[x].key < sorting.offers[y].key);

    return by ? by : x - y;
}

struct rp_ft_comm *rp_ft_comm_split(struct rp_ft_comm *comm, int color, int key)
{
    int32_t context;
    int count = 0, *chosen = rp_ft_alloc((size_t)comm->size * sizeof *chosen);
    struct offer *offers = exchange(comm, color, key, &context);
    struct rp_ft_comm *new = NULL;

    for (int i = 0; i < comm->size; i++)
        if (offers[i].color == color)
            chosen[count++] = i;
    sorting.offers = offers;
    qsort(chosen, (size_t)count, sizeof *chosen, by_key);
    for (int i = 0; i < count; i++)
        chosen[i] = comm->members[chosen[i]];
    if (color != MPI_UNDEFINED)
        new = rp_ft_comm_add(comm, false, context, count, chosen);
    free(offers);
    free(chosen);
    return new;
}

int rp_ft_Comm_split(MPI_Comm old, int color, int key, MPI_Comm *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(old);

    struct rp_ft_comm *new = rp_ft_comm_split(comm, color, key);
    *out = new ? new->handle : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* Which ranks share a host must not depend on which processes have them: every rank is by itself.
 * One that moves would find itself on another host. */
int rp_ft_Comm_split_type(MPI_Comm old, int type, int key, MPI_Info info, MPI_Comm *out)
{
    (void)info;
    if (type != MPI_UNDEFINED && type != MPI_COMM_TYPE_SHARED)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "MPI_Comm_split_type: of a type that reprise ft does not know");
    return rp_ft_Comm_split(old, type == MPI_UNDEFINED ? MPI_UNDEFINED : rp_ft_comm_of(old)->rank,
                            key, out);
}

int rp_ft_Comm_create(MPI_Comm old, MPI_Group group, MPI_Comm *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(old);
    int count, *ranks, place = MPI_UNDEFINED;
    int32_t context = rp_ft_comm_agree_context(comm);

    ranks = rp_ft_comm_ranks_of_group(group, &count);
    for (int i = 0; i < count; i++)
        if (ranks[i] == rp_ft.rank)
            place = i;
    *out = place == MPI_UNDEFINED ? MPI_COMM_NULL
                                  : rp_ft_comm_add(comm, false, context, count, ranks)->handle;
    free(ranks);
    return MPI_SUCCESS;
}

enum { CREATE_GROUP = 1 << 20 };

/* Members, by their ranks in the parent, agree on a context by messages in the parent's own, by a
 * tag that only such calls use. The first takes the greatest. Returns it. */
static int32_t agree_in_group(struct rp_ft_comm *parent, int count, const int *members, int tag)
{
    int32_t next = rp_ft_next_context(), theirs, context = parent->context + 1;
    int first = members[0];

    for (int i = 1; i < count && parent->rank == first; i++) {
        rp_ft_finish(rp_ft_receive(parent, context, members[i], tag, &theirs, 1, MPI_INT));
        next = theirs > next ? theirs : next;
    }
    if (parent->rank != first) {
        rp_ft_send(parent, context, first, tag, &next, 1, MPI_INT, 0, NULL);
        rp_ft_finish(rp_ft_receive(parent, context, first, tag, &next, 1, MPI_INT));
    }
    for (int i = 1; i < count && parent->rank == first; i++)
        rp_ft_send(parent, context, members[i], tag, &next, 1, MPI_INT, 0, NULL);
    return next;
}

/* Returns the ranks of the parent of these ranks of the world, and whether we are among them. */
static int *find_members(const struct rp_ft_comm *parent, int count, const int *ranks, bool *is_one)
{
    int *members = rp_ft_alloc((size_t)count * sizeof *members);

    *is_one = false;
    for (int i = 0; i < count; i++) {
        while (members[i] < parent->size && parent->members[members[i]] != ranks[i])
            members[i]++;
        *is_one |= members[i] == parent->rank;
    }
    return members;
}

/* Returns NULL to who is not in the group. */
static struct rp_ft_comm *create_group(struct rp_ft_comm *parent, MPI_Group group, int tag)
{
    int count, *ranks = rp_ft_comm_ranks_of_group(group, &count);
    bool is_one;
    int *members = find_members(parent, count, ranks, &is_one);
    struct rp_ft_comm *new = NULL;

    if (is_one) {
        int32_t next = agree_in_group(parent, count, members, tag);
        rp_ft_set_next_context(next + RP_FT_CONTEXTS_A_COMM);
        new = rp_ft_comm_add(parent, false, next, count, ranks);
    }
    free(members);
    free(ranks);
    return new;
}

int rp_ft_Comm_create_group(MPI_Comm old, MPI_Group group, int tag, MPI_Comm *out)
{
    struct rp_ft_comm *new =
        create_group(rp_ft_comm_of(old), group, -CREATE_GROUP - tag % CREATE_GROUP);

    *out = new ? new->handle : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* Where several threads do not call MPI at once, the program's tag tells nothing: members that wait
 * for each other in another order would wait for ever. */
int rp_ft_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info,
                                 MPI_Errhandler handler, MPI_Comm *out)
{
    struct rp_ft_comm *new = create_group(rp_ft_comm_world(), group, -2 * CREATE_GROUP);

    (void)tag, (void)info;
    *out = new ? new->handle : MPI_COMM_NULL;
    return new ? rp_real.Comm_set_errhandler(new->handle, handler) : MPI_SUCCESS;
}
