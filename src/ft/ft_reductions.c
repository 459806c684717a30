/* SPDX-License-Identifier: MIT */
/*
 * The algorithms of reductions. In which order values are combined depends on the number of ranks
 * alone, so that a rank that recovers gets the same bits.
 */
#include "ft/ft_reductions.h"

#include "ft/ft_abort.h"
#include "ft/ft_data_movement.h"
#include "ft/ft_pairs.h"
#include "ft/ft_state.h"
#include "ft/ft_types.h"
#include "reprise.h"

static int out_count_of(const struct rp_ft_collective *call, int peer)
{
    return call->out_counts ? call->out_counts[peer] : call->out_count;
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
static void combine(void **left, void **right, struct rp_ft_collective *call, int count)
{
    void *result = *right;

    if (!rp_ft_combine_pairs(*left, result, count, call->out_type, call->op)) {
        refuse_unknown(call->op, call->out_type);
        rp_real.Reduce_local(*left, result, count, call->out_type, call->op);
    }
    *right = *left;
    *left = result;
}

/* The result is in *own at `root`. Where order matters, the root of the tree is rank 0: then who
 * is combined are neighbours in rank order. */
static void reduce_to(struct rp_ft_collective *call, int root, int count, void **own, void **other)
{
    int size = call->comm->size, top = commutes(call->op) ? root : 0,
        place = (call->comm->rank - top + size) % size;

    for (int bit = 1; bit < size; bit *= 2) {
        if (place & bit) {
            rp_ft_collective_send(call, (place - bit + top) % size, *own, count, call->out_type);
            break;
        }
        if (place + bit < size) {
            rp_ft_collective_receive(call, (place + bit + top) % size, *other, count,
                                     call->out_type);
            combine(own, other, call, count);
        }
    }
    if (top != root && call->comm->rank == top)
        rp_ft_collective_send(call, root, *own, count, call->out_type);
    if (top != root && call->comm->rank == root)
        rp_ft_collective_receive(call, top, *own, count, call->out_type);
}

static const void *contribution(const struct rp_ft_collective *call)
{
    return call->in == MPI_IN_PLACE ? call->out : call->in;
}

struct operands {
    void *own, *other;
};

static struct operands start_reduction(const struct rp_ft_collective *call, const void *from,
                                       int count)
{
    struct operands operands = {rp_ft_temporary(count, call->out_type),
                                rp_ft_temporary(count, call->out_type)};

    rp_ft_copy(from, count, call->out_type, operands.own, count, call->out_type);
    return operands;
}

static void end_reduction(const struct rp_ft_collective *call, struct operands operands)
{
    rp_ft_temporary_free(operands.own, call->out_type);
    rp_ft_temporary_free(operands.other, call->out_type);
}

int rp_ft_run_reduce(struct rp_ft_collective *call)
{
    struct operands operands = start_reduction(call, contribution(call), call->out_count);

    reduce_to(call, call->root, call->out_count, &operands.own, &operands.other);
    if (call->comm->rank == call->root)
        rp_ft_copy(operands.own, call->out_count, call->out_type, call->out, call->out_count,
                   call->out_type);
    end_reduction(call, operands);
    return MPI_SUCCESS;
}

/* Ranks beyond a power of two send their values to another rank first and get the result at the
 * end.
 */
static int allreduce_by_doubling(struct rp_ft_collective *call)
{
    int size = call->comm->size, rank = call->comm->rank, count = call->out_count, power = 1;
    MPI_Datatype type = call->out_type;
    struct operands operands = start_reduction(call, contribution(call), count);

    while (2 * power <= size)
        power *= 2;
    int extra = size - power;
    if (rank >= power) {
        rp_ft_collective_send(call, rank - power, operands.own, count, type);
        rp_ft_collective_receive(call, rank - power, operands.own, count, type);
    } else {
        if (rank < extra) {
            rp_ft_collective_receive(call, rank + power, operands.other, count, type);
            combine(&operands.own, &operands.other, call, count);
        }
        for (int bit = 1; bit < power; bit *= 2) {
            int partner = rank ^ bit;
            rp_ft_collective_send(call, partner, operands.own, count, type);
            rp_ft_collective_receive(call, partner, operands.other, count, type);
            if (partner <
                rank) { /* the lower rank's goes first at both: they must get the same bits */
                void *own = operands.own;
                operands.own = operands.other;
                operands.other = own;
            }
            combine(&operands.own, &operands.other, call, count);
        }
        if (rank < extra)
            rp_ft_collective_send(call, rank + power, operands.own, count, type);
    }
    rp_ft_copy(operands.own, count, type, call->out, count, type);
    end_reduction(call, operands);
    return MPI_SUCCESS;
}

int rp_ft_run_allreduce(struct rp_ft_collective *call)
{
    if (commutes(call->op))
        return allreduce_by_doubling(call);
    struct operands operands = start_reduction(call, contribution(call), call->out_count);
    reduce_to(call, 0, call->out_count, &operands.own, &operands.other);
    if (call->comm->rank == 0)
        rp_ft_copy(operands.own, call->out_count, call->out_type, call->out, call->out_count,
                   call->out_type);
    end_reduction(call, operands);
    call->root = 0;
    return rp_ft_run_bcast(call);
}

/* Along a chain. What goes on to the next is all up to here. */
static int scan_chain(struct rp_ft_collective *call, bool exclusive)
{
    int rank = call->comm->rank, count = call->out_count;
    MPI_Datatype type = call->out_type;
    struct operands operands = start_reduction(call, contribution(call), count);

    if (rank > 0) {
        rp_ft_collective_receive(call, rank - 1, operands.other, count, type);
        if (exclusive)
            rp_ft_copy(operands.other, count, type, call->out, count, type);
        void *own = operands.own;
        operands.own = operands.other;
        operands.other = own;
        combine(&operands.own, &operands.other, call, count);
    }
    if (rank + 1 < call->comm->size)
        rp_ft_collective_send(call, rank + 1, operands.own, count, type);
    if (!exclusive)
        rp_ft_copy(operands.own, count, type, call->out, count, type);
    end_reduction(call, operands);
    return MPI_SUCCESS;
}

int rp_ft_run_scan(struct rp_ft_collective *call)
{
    return scan_chain(call, false);
}

int rp_ft_run_exscan(struct rp_ft_collective *call)
{
    return scan_chain(call, true);
}

/* Reduced at rank 0, then dealt out. */
int rp_ft_run_reduce_scatter(struct rp_ft_collective *call)
{
    int size = call->comm->size, rank = call->comm->rank, total = 0, own = out_count_of(call, rank);

    for (int i = 0; i < size; i++)
        total += out_count_of(call, i);
    struct operands operands = start_reduction(call, contribution(call), total);
    reduce_to(call, 0, total, &operands.own, &operands.other);
    for (int i = 0, at = 0; i < size && rank == 0; at += out_count_of(call, i), i++)
        if (i == 0)
            rp_ft_copy(operands.own, own, call->out_type, call->out, own, call->out_type);
        else
            rp_ft_collective_send(call, i, rp_ft_offset(operands.own, at, call->out_type),
                                  out_count_of(call, i), call->out_type);
    if (rank > 0)
        rp_ft_collective_receive(call, 0, call->out, own, call->out_type);
    end_reduction(call, operands);
    return MPI_SUCCESS;
}
