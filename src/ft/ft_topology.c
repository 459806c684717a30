/* SPDX-License-Identifier: MIT */
/* Cartesian topologies and distributed graphs. Ranks are never reordered. */
#include <stdlib.h>

#include "ft/ft_abort.h"
#include "ft/ft_comm_create.h"
#include "ft/ft_comms.h"
#include "ft/ft_state.h"

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
    comm->dim = rp_ft_copy_ints(dim, dims);
    comm->periodic = rp_ft_copy_ints(periodic, dims);
    comm->coords = rp_ft_alloc((size_t)dims * sizeof(int));
    coords_of(comm, comm->rank, comm->coords);
    comm->in_degree = comm->out_degree = 2 * dims;
    comm->in = rp_ft_alloc((size_t)(2 * dims) * sizeof(int));
    for (int i = 0; i < 2 * dims; i++) {
        int *at = rp_ft_copy_ints(comm->coords, dims);
        at[i / 2] += i % 2 ? 1 : -1;
        comm->in[i] = rank_at(comm, at);
        free(at);
    }
    comm->out = rp_ft_copy_ints(comm->in, 2 * dims);
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
    new = rp_ft_comm_split(comm, comm->rank < needed ? 0 : MPI_UNDEFINED, comm->rank);
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
    new = rp_ft_comm_split(comm, color, key);
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
    at = rp_ft_copy_ints(comm->coords, comm->dims);
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

    (void)info, (void)reorder;
    struct rp_ft_comm *new =
        rp_ft_comm_add(comm, false, rp_ft_comm_agree_context(comm), comm->size, comm->members);
    new->topology = RP_FT_DIST_GRAPH;
    new->in_degree = in_degree;
    new->out_degree = out_degree;
    new->in = rp_ft_copy_ints(in, in_degree);
    new->out = rp_ft_copy_ints(out, out_degree);
    new->weighted = in_w != MPI_UNWEIGHTED &&out_w != MPI_UNWEIGHTED;
    if (new->weighted) {
        new->in_w = rp_ft_copy_ints(in_w, in_degree);
        new->out_w = rp_ft_copy_ints(out_w, out_degree);
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
