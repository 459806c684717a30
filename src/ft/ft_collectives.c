/* SPDX-License-Identifier: MIT */
/*
 * Collectives, by messages of our own: so they are logged, repeated and recovered like any other,
 * and a rank that runs again computes what it did before, bit by bit. The order of reductions
 * depends on the number of ranks alone.
 *
 * Every call on a communicator has a number, which is its tag; `PART`s of it tell apart directions
 * of neighbours. Blocking and non-blocking calls share the code (ft_coroutines.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "ft/ft.h"
#include "reprise.h"

enum { PARTS = 128, CALLS = 1 << 22 };

struct call {
    int (*run)(struct call *call);
    struct rp_ft_comm *comm;
    int tag, root;
    const void *in;
    void *out;
    int in_count, out_count;
    MPI_Datatype in_type, out_type;
    const int *in_counts, *in_displs, *out_counts, *out_displs;
    const MPI_Datatype *in_types, *out_types; /* of alltoallw */
    const MPI_Aint *in_bytes, *out_bytes;     /* of neighbor_alltoallw */
    MPI_Op op;
    struct rp_ft_request *request; /* non-blocking */
    struct rp_ft_request *sends;   /* long ones, which end with the call */
    bool owns_in, owns_out;        /* types: the program may free its own */
    bool frees_op;                 /* the program has freed it, as far as it knows */
    struct call *next;             /* of those in the background that have an operation */
};

static struct call *reducing;

static void send_part(struct call *call, int part, int to, const void *buffer, int count,
                      MPI_Datatype type)
{
    struct rp_ft_request *request = NULL;

    if (rp_ft_size(count, type) > RP_FT_INLINE && rp_ft_world_rank(call->comm, to) != rp_ft.rank) {
        request = rp_ft_request_new(RP_FT_SEND, call->comm);
        request->active = true;
        request->next_pending = call->sends;
        call->sends = request;
    }
    rp_ft_send(call->comm, call->comm->context + 1, to, call->tag + part, buffer, count, type, 0,
               request);
}

static void send(struct call *call, int to, const void *buffer, int count, MPI_Datatype type)
{
    send_part(call, 0, to, buffer, count, type);
}

static struct rp_ft_request *post(struct call *call, int part, int from, void *buffer, int count,
                                  MPI_Datatype type)
{
    return rp_ft_receive(call->comm, call->comm->context + 1, from, call->tag + part, buffer, count,
                         type);
}

static int receive(struct call *call, int from, void *buffer, int count, MPI_Datatype type)
{
    return rp_ft_finish(post(call, 0, from, buffer, count, type));
}

static void finish_sends(struct call *call)
{
    while (call->sends) {
        struct rp_ft_request *request = call->sends;
        call->sends = request->next_pending;
        rp_ft_finish(request);
    }
}

static void number(struct call *call)
{
    call->tag = (int)(call->comm->collectives++ % CALLS) * PARTS;
}

static int now(struct call call)
{
    number(&call);
    int error = call.run(&call);
    finish_sends(&call);
    return error == MPI_SUCCESS ? error : rp_ft_error(call.comm, error);
}

/* MPI has no copies of operations: one that is freed while it is used goes with the last that uses
 * it. */
int rp_ft_Op_free(MPI_Op *op)
{
    bool is_used = false;

    for (struct call *call = reducing; call; call = call->next)
        if (call->op == *op)
            is_used = call->frees_op = true;
    if (!is_used)
        return rp_real.Op_free(op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

static void reduced(struct call *done)
{
    struct call **link = &reducing;
    bool is_used = false;

    while (*link && *link != done)
        link = &(*link)->next;
    if (*link)
        *link = done->next;
    for (const struct call *call = reducing; call; call = call->next)
        is_used |= call->op == done->op;
    if (done->frees_op && !is_used)
        rp_real.Op_free(&done->op);
}

static void in_background(void *data)
{
    struct call *call = data;

    call->request->status.MPI_ERROR = call->run(call);
    finish_sends(call);
    call->request->done = true;
    if (call->op)
        reduced(call);
    if (call->owns_in)
        rp_real.Type_free(&call->in_type);
    if (call->owns_out)
        rp_real.Type_free(&call->out_type);
    free(call);
}

static int gather(struct call *call);
static int scatter(struct call *call);

/* Arguments that only the root's call means, or that MPI_IN_PLACE stands for, may be anything. */
static bool means_in(const struct call *call)
{
    return call->in != MPI_IN_PLACE && (call->run != scatter || call->comm->rank == call->root);
}

static bool means_out(const struct call *call)
{
    return call->out != MPI_IN_PLACE && (call->run != gather || call->comm->rank == call->root);
}

static int later(struct call call, MPI_Request *request)
{
    struct call *copy = rp_ft_alloc(sizeof *copy);

    number(&call);
    *copy = call;
    if (call.in_type && means_in(&call))
        copy->in_type = rp_ft_type_keep(call.in_type, &copy->owns_in);
    if (call.out_type && means_out(&call))
        copy->out_type = rp_ft_type_keep(call.out_type, &copy->owns_out);
    if (call.op) {
        copy->next = reducing;
        reducing = copy;
    }
    copy->request = rp_ft_request_new(RP_FT_COLLECTIVE, call.comm);
    copy->request->active = true;
    rp_ft_requests_active++;
    *request = (MPI_Request)copy->request;
    rp_ft_coroutine_start(in_background, copy);
    return MPI_SUCCESS;
}

/* Algorithms */

static int barrier(struct call *call)
{
    int size = call->comm->size, rank = call->comm->rank;

    for (int distance = 1; distance < size; distance *= 2) {
        send(call, (rank + distance) % size, NULL, 0, MPI_BYTE);
        receive(call, (rank - distance + size) % size, NULL, 0, MPI_BYTE);
    }
    return MPI_SUCCESS;
}

void rp_ft_barrier(struct rp_ft_comm *comm)
{
    now((struct call){.run = barrier, .comm = comm});
}

/* Binomial tree, from the root. */
static int bcast(struct call *call)
{
    int size = call->comm->size, place = (call->comm->rank - call->root + size) % size, bit = 1,
        error = MPI_SUCCESS;

    while (bit < size && !(place & bit))
        bit *= 2;
    if (place)
        error = receive(call, (place - bit + call->root) % size, call->out, call->out_count,
                        call->out_type);
    for (bit /= 2; bit > 0; bit /= 2)
        if (place + bit < size)
            send(call, (place + bit + call->root) % size, call->out, call->out_count,
                 call->out_type);
    return error;
}

static bool is_in_place(const void *buffer)
{
    return buffer == MPI_IN_PLACE;
}

static bool commutes(MPI_Op op)
{
    int flag;

    rp_real.Op_commutative(op, &flag);
    return flag;
}

/* What MPI itself would say of it ends the process. */
static void refuse_unknown(MPI_Op op, MPI_Datatype type)
{
    static MPI_Op known;
    static MPI_Datatype known_for;
    MPI_Errhandler handler;
    char nothing[1];

    if (op == known && type == known_for)
        return;
    rp_real.Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    rp_real.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = rp_real.Reduce_local(nothing, nothing + 1, 0, type, op);
    rp_real.Comm_set_errhandler(MPI_COMM_WORLD, handler);
    rp_real.Errhandler_free(&handler);
    if (error != MPI_SUCCESS)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "%s: the MPI with ULFM does not know this operation for this datatype",
                  rp_ft.call);
    known = op;
    known_for = type;
}

/* *left = *left op *right, by MPI's function that puts the result to the right. */
static void combine(void **left, void **right, struct call *call, int count)
{
    void *result = *right;

    if (!rp_ft_combine_pairs(*left, result, count, call->out_type, call->op)) {
        refuse_unknown(call->op, call->out_type);
        rp_real.Reduce_local(*left, result, count, call->out_type, call->op);
    }
    *right = *left;
    *left = result;
}

/* The result is in *mine at `root`. Where order matters, the root of the tree is rank 0: then who
 * is combined are neighbours in rank order. */
static void reduce_to(struct call *call, int root, int count, void **mine, void **other)
{
    int size = call->comm->size, top = commutes(call->op) ? root : 0,
        place = (call->comm->rank - top + size) % size;

    for (int bit = 1; bit < size; bit *= 2) {
        if (place & bit) {
            send(call, (place - bit + top) % size, *mine, count, call->out_type);
            break;
        }
        if (place + bit < size) {
            receive(call, (place + bit + top) % size, *other, count, call->out_type);
            combine(mine, other, call, count);
        }
    }
    if (top != root && call->comm->rank == top)
        send(call, root, *mine, count, call->out_type);
    if (top != root && call->comm->rank == root)
        receive(call, top, *mine, count, call->out_type);
}

static const void *contribution(const struct call *call)
{
    return is_in_place(call->in) ? call->out : call->in;
}

struct two {
    void *mine, *other;
};

static struct two start_reduction(const struct call *call, const void *from, int count)
{
    struct two two = {rp_ft_temporary(count, call->out_type),
                      rp_ft_temporary(count, call->out_type)};

    rp_ft_copy(from, count, call->out_type, two.mine, count, call->out_type);
    return two;
}

static void end_reduction(const struct call *call, struct two two)
{
    rp_ft_temporary_free(two.mine, call->out_type);
    rp_ft_temporary_free(two.other, call->out_type);
}

static int reduce(struct call *call)
{
    struct two two = start_reduction(call, contribution(call), call->out_count);

    reduce_to(call, call->root, call->out_count, &two.mine, &two.other);
    if (call->comm->rank == call->root)
        rp_ft_copy(two.mine, call->out_count, call->out_type, call->out, call->out_count,
                   call->out_type);
    end_reduction(call, two);
    return MPI_SUCCESS;
}

/* Ranks beyond a power of two give their values away at first and get the result in the end. */
static int allreduce_by_doubling(struct call *call)
{
    int size = call->comm->size, rank = call->comm->rank, count = call->out_count, power = 1;
    MPI_Datatype type = call->out_type;
    struct two two = start_reduction(call, contribution(call), count);

    while (2 * power <= size)
        power *= 2;
    int extra = size - power;
    if (rank >= power) {
        send(call, rank - power, two.mine, count, type);
        receive(call, rank - power, two.mine, count, type);
    } else {
        if (rank < extra) {
            receive(call, rank + power, two.other, count, type);
            combine(&two.mine, &two.other, call, count);
        }
        for (int bit = 1; bit < power; bit *= 2) {
            int partner = rank ^ bit;
            send(call, partner, two.mine, count, type);
            receive(call, partner, two.other, count, type);
            if (partner <
                rank) { /* the lower rank's goes first at both: they must get the same bits */
                void *mine = two.mine;
                two.mine = two.other;
                two.other = mine;
            }
            combine(&two.mine, &two.other, call, count);
        }
        if (rank < extra)
            send(call, rank + power, two.mine, count, type);
    }
    rp_ft_copy(two.mine, count, type, call->out, count, type);
    end_reduction(call, two);
    return MPI_SUCCESS;
}

static int allreduce(struct call *call)
{
    if (commutes(call->op))
        return allreduce_by_doubling(call);
    struct two two = start_reduction(call, contribution(call), call->out_count);
    reduce_to(call, 0, call->out_count, &two.mine, &two.other);
    if (call->comm->rank == 0)
        rp_ft_copy(two.mine, call->out_count, call->out_type, call->out, call->out_count,
                   call->out_type);
    end_reduction(call, two);
    call->root = 0;
    return bcast(call);
}

static int out_count_of(const struct call *call, int peer)
{
    return call->out_counts ? call->out_counts[peer] : call->out_count;
}

static void *out_at(const struct call *call, int peer)
{
    if (call->out_types)
        return (char *)call->out +
               (call->out_bytes ? call->out_bytes[peer] : call->out_displs[peer]);
    return rp_ft_offset(call->out,
                        call->out_displs ? call->out_displs[peer] : (long)peer * call->out_count,
                        call->out_type);
}

static int in_count_of(const struct call *call, int peer)
{
    return call->in_counts ? call->in_counts[peer] : call->in_count;
}

static void *in_at(const struct call *call, int peer)
{
    if (call->in_types)
        return (char *)call->in + (call->in_bytes ? call->in_bytes[peer] : call->in_displs[peer]);
    return rp_ft_offset(call->in,
                        call->in_displs ? call->in_displs[peer] : (long)peer * call->in_count,
                        call->in_type);
}

static MPI_Datatype out_type_of(const struct call *call, int peer)
{
    return call->out_types ? call->out_types[peer] : call->out_type;
}

static MPI_Datatype in_type_of(const struct call *call, int peer)
{
    return call->in_types ? call->in_types[peer] : call->in_type;
}

static int gather(struct call *call)
{
    int size = call->comm->size, rank = call->comm->rank, error = MPI_SUCCESS;

    if (rank != call->root) {
        send(call, call->root, call->in, call->in_count, call->in_type);
        return MPI_SUCCESS;
    }
    if (!is_in_place(call->in))
        rp_ft_copy(call->in, call->in_count, call->in_type, out_at(call, rank),
                   out_count_of(call, rank), call->out_type);
    for (int i = 0; i < size; i++)
        if (i != rank) {
            int one = receive(call, i, out_at(call, i), out_count_of(call, i), call->out_type);
            error = error == MPI_SUCCESS ? one : error;
        }
    return error;
}

static int scatter(struct call *call)
{
    int size = call->comm->size, rank = call->comm->rank;

    if (rank != call->root)
        return receive(call, call->root, call->out, call->out_count, call->out_type);
    for (int i = 0; i < size; i++)
        if (i != rank)
            send(call, i, in_at(call, i), in_count_of(call, i), call->in_type);
    if (!is_in_place(call->out))
        rp_ft_copy(in_at(call, rank), in_count_of(call, rank), call->in_type, call->out,
                   call->out_count, call->out_type);
    return MPI_SUCCESS;
}

/* Around a ring. */
static int allgather(struct call *call)
{
    int size = call->comm->size, rank = call->comm->rank, error = MPI_SUCCESS;
    int next = (rank + 1) % size, before = (rank - 1 + size) % size;

    if (!is_in_place(call->in))
        rp_ft_copy(call->in, call->in_count, call->in_type, out_at(call, rank),
                   out_count_of(call, rank), call->out_type);
    for (int step = 0; step < size - 1; step++) {
        int given = (rank - step + size) % size, taken = (rank - step - 1 + size) % size;
        send(call, next, out_at(call, given), out_count_of(call, given), call->out_type);
        int one =
            receive(call, before, out_at(call, taken), out_count_of(call, taken), call->out_type);
        error = error == MPI_SUCCESS ? one : error;
    }
    return error;
}

void rp_ft_allgather(struct rp_ft_comm *comm, const void *mine, size_t bytes, void *all)
{
    now((struct call){.run = allgather,
                      .comm = comm,
                      .in = mine,
                      .in_count = (int)bytes,
                      .in_type = MPI_BYTE,
                      .out = all,
                      .out_count = (int)bytes,
                      .out_type = MPI_BYTE});
}

static int finish_all(struct rp_ft_request **requests, int count)
{
    int error = MPI_SUCCESS;

    for (int i = 0; i < count; i++) {
        int one = requests[i] ? rp_ft_finish(requests[i]) : MPI_SUCCESS;
        error = error == MPI_SUCCESS ? one : error;
    }
    free(requests);
    return error;
}

/* In place: a send copies, so everything is sent before the first receive. */
static int alltoall(struct call *call)
{
    int size = call->comm->size, rank = call->comm->rank;
    struct rp_ft_request **requests = rp_ft_alloc((size_t)size * sizeof(struct rp_ft_request *));
    struct call given = *call;

    if (is_in_place(call->in)) {
        given.in = call->out;
        given.in_count = call->out_count;
        given.in_type = call->out_type;
        given.in_counts = call->out_counts;
        given.in_displs = call->out_displs;
        given.in_types = call->out_types;
    }
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size;
        send(call, to, in_at(&given, to), in_count_of(&given, to), in_type_of(&given, to));
    }
    for (int step = 1; step < size; step++) {
        int from = (rank - step + size) % size;
        requests[step] = post(call, 0, from, out_at(call, from), out_count_of(call, from),
                              out_type_of(call, from));
    }
    if (!is_in_place(call->in))
        rp_ft_copy(in_at(call, rank), in_count_of(call, rank), in_type_of(call, rank),
                   out_at(call, rank), out_count_of(call, rank), out_type_of(call, rank));
    return finish_all(requests, size);
}

void rp_ft_draw_lines(struct rp_ft_comm *world, uint64_t *lines)
{
    struct call call = {.comm = world};
    int size = world->size, rank = world->rank;

    number(&call);
    for (int step = 1; step < size; step++)
        send(&call, (rank + step) % size, NULL, 0, MPI_BYTE);
    for (int step = 1; step < size; step++) {
        int from = (rank - step + size) % size;
        struct rp_ft_request *request = post(&call, 0, from, NULL, 0, MPI_BYTE);
        RP_FT_WAIT_UNTIL(rp_ft_request_done(request));
        lines[from] = request->taken.seq + 1;
        rp_ft_request_free(request);
    }
}

/* Along a chain. What goes on to the next is all up to here. */
static int scan_chain(struct call *call, bool exclusive)
{
    int rank = call->comm->rank, count = call->out_count;
    MPI_Datatype type = call->out_type;
    struct two two = start_reduction(call, contribution(call), count);

    if (rank > 0) {
        receive(call, rank - 1, two.other, count, type);
        if (exclusive)
            rp_ft_copy(two.other, count, type, call->out, count, type);
        void *mine = two.mine;
        two.mine = two.other;
        two.other = mine;
        combine(&two.mine, &two.other, call, count);
    }
    if (rank + 1 < call->comm->size)
        send(call, rank + 1, two.mine, count, type);
    if (!exclusive)
        rp_ft_copy(two.mine, count, type, call->out, count, type);
    end_reduction(call, two);
    return MPI_SUCCESS;
}

static int scan(struct call *call)
{
    return scan_chain(call, false);
}

static int exscan(struct call *call)
{
    return scan_chain(call, true);
}

/* Reduced at rank 0, then dealt out. */
static int reduce_scatter(struct call *call)
{
    int size = call->comm->size, rank = call->comm->rank, total = 0,
        mine = out_count_of(call, rank);

    for (int i = 0; i < size; i++)
        total += out_count_of(call, i);
    struct two two = start_reduction(call, contribution(call), total);
    reduce_to(call, 0, total, &two.mine, &two.other);
    for (int i = 0, at = 0; i < size && rank == 0; at += out_count_of(call, i), i++)
        if (i == 0)
            rp_ft_copy(two.mine, mine, call->out_type, call->out, mine, call->out_type);
        else
            send(call, i, rp_ft_offset(two.mine, at, call->out_type), out_count_of(call, i),
                 call->out_type);
    if (rank > 0)
        receive(call, 0, call->out, mine, call->out_type);
    end_reduction(call, two);
    return MPI_SUCCESS;
}

/* In a cartesian topology of two or one the neighbours of both sides are the same: which way a
 * message went tells them apart. */
static int part_to(const struct rp_ft_comm *comm, int i)
{
    return comm->topology == RP_FT_CART ? (i ^ 1) % PARTS : 0;
}

static int part_from(const struct rp_ft_comm *comm, int i)
{
    return comm->topology == RP_FT_CART ? i % PARTS : 0;
}

static int neighbours(struct call *call, bool all_to_all)
{
    struct rp_ft_comm *comm = call->comm;
    struct rp_ft_request **requests =
        rp_ft_alloc((size_t)(comm->in_degree + 1) * sizeof(struct rp_ft_request *));

    for (int i = 0; i < comm->out_degree; i++)
        if (comm->out[i] != MPI_PROC_NULL) {
            if (all_to_all)
                send_part(call, part_to(comm, i), comm->out[i], in_at(call, i),
                          in_count_of(call, i), in_type_of(call, i));
            else
                send_part(call, part_to(comm, i), comm->out[i], call->in, call->in_count,
                          call->in_type);
        }
    for (int i = 0; i < comm->in_degree; i++)
        if (comm->in[i] != MPI_PROC_NULL)
            requests[i] = post(call, part_from(comm, i), comm->in[i], out_at(call, i),
                               out_count_of(call, i), out_type_of(call, i));
    return finish_all(requests, comm->in_degree);
}

static int neighbor_allgather(struct call *call)
{
    return neighbours(call, false);
}

static int neighbor_alltoall(struct call *call)
{
    return neighbours(call, true);
}

/* The functions of MPI: each as it is, and in the background. */

#define P(...) __VA_ARGS__
#define COLLECTIVE(NAME, INAME, PARAMETERS, FUNCTION, ...)                                         \
    int rp_ft_##NAME(PARAMETERS, MPI_Comm comm)                                                    \
    {                                                                                              \
        return now((struct call){.run = FUNCTION, .comm = rp_ft_comm_of(comm), __VA_ARGS__});      \
    }                                                                                              \
    int rp_ft_##INAME(PARAMETERS, MPI_Comm comm, MPI_Request *request)                             \
    {                                                                                              \
        return later((struct call){.run = FUNCTION, .comm = rp_ft_comm_of(comm), __VA_ARGS__},     \
                     request);                                                                     \
    }

int rp_ft_Barrier(MPI_Comm comm)
{
    return now((struct call){.run = barrier, .comm = rp_ft_comm_of(comm)});
}

int rp_ft_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return later((struct call){.run = barrier, .comm = rp_ft_comm_of(comm)}, request);
}

COLLECTIVE(Bcast, Ibcast, P(void *buffer, int count, MPI_Datatype type, int root), bcast,
           .out = buffer, .out_count = count, .out_type = type, .root = root)
COLLECTIVE(Reduce, Ireduce,
           P(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root), reduce,
           .in = in, .out = out, .out_count = count, .out_type = type, .op = op, .root = root)
COLLECTIVE(Allreduce, Iallreduce,
           P(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op), allreduce,
           .in = in, .out = out, .out_count = count, .out_type = type, .op = op)
COLLECTIVE(Scan, Iscan, P(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op), scan,
           .in = in, .out = out, .out_count = count, .out_type = type, .op = op)
COLLECTIVE(Exscan, Iexscan, P(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op),
           exscan, .in = in, .out = out, .out_count = count, .out_type = type, .op = op)
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           P(const void *in, void *out, const int *counts, MPI_Datatype type, MPI_Op op),
           reduce_scatter, .in = in, .out = out, .out_counts = counts, .out_type = type, .op = op)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
           P(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op), reduce_scatter,
           .in = in, .out = out, .out_count = count, .out_type = type, .op = op)

#define IN .in = in, .in_count = in_count, .in_type = in_type
#define OUT .out = out, .out_count = out_count, .out_type = out_type
#define INS .in = in, .in_counts = in_counts, .in_displs = in_displs, .in_type = in_type
#define OUTS .out = out, .out_counts = out_counts, .out_displs = out_displs, .out_type = out_type
#define P_IN const void *in, int in_count, MPI_Datatype in_type
#define P_OUT void *out, int out_count, MPI_Datatype out_type
#define P_INS const void *in, const int *in_counts, const int *in_displs, MPI_Datatype in_type
#define P_OUTS void *out, const int *out_counts, const int *out_displs, MPI_Datatype out_type
#define P_W                                                                                        \
    const void *in, const int *in_counts, const int *in_displs, const MPI_Datatype *in_types,      \
        void *out, const int *out_counts, const int *out_displs, const MPI_Datatype *out_types
#define P_NW                                                                                       \
    const void *in, const int *in_counts, const MPI_Aint *in_bytes, const MPI_Datatype *in_types,  \
        void *out, const int *out_counts, const MPI_Aint *out_bytes, const MPI_Datatype *out_types

COLLECTIVE(Gather, Igather, P(P_IN, P_OUT, int root), gather, IN, OUT, .root = root)
COLLECTIVE(Gatherv, Igatherv, P(P_IN, P_OUTS, int root), gather, IN, OUTS, .root = root)
COLLECTIVE(Scatter, Iscatter, P(P_IN, P_OUT, int root), scatter, IN, OUT, .root = root)
COLLECTIVE(Scatterv, Iscatterv, P(P_INS, P_OUT, int root), scatter, INS, OUT, .root = root)
COLLECTIVE(Allgather, Iallgather, P(P_IN, P_OUT), allgather, IN, OUT)
COLLECTIVE(Allgatherv, Iallgatherv, P(P_IN, P_OUTS), allgather, IN, OUTS)
COLLECTIVE(Alltoall, Ialltoall, P(P_IN, P_OUT), alltoall, IN, OUT)
COLLECTIVE(Alltoallv, Ialltoallv, P(P_INS, P_OUTS), alltoall, INS, OUTS)
COLLECTIVE(Alltoallw, Ialltoallw, P(P_W), alltoall, .in = in, .in_counts = in_counts,
           .in_displs = in_displs, .in_types = in_types, .out = out, .out_counts = out_counts,
           .out_displs = out_displs, .out_types = out_types)
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, P(P_IN, P_OUT), neighbor_allgather, IN, OUT)
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, P(P_IN, P_OUTS), neighbor_allgather, IN, OUTS)
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, P(P_IN, P_OUT), neighbor_alltoall, IN, OUT)
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, P(P_INS, P_OUTS), neighbor_alltoall, INS, OUTS)
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, P(P_NW), neighbor_alltoall, .in = in,
           .in_counts = in_counts, .in_bytes = in_bytes, .in_types = in_types, .out = out,
           .out_counts = out_counts, .out_bytes = out_bytes, .out_types = out_types)
