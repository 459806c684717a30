/* SPDX-License-Identifier: MIT */
/*
 * ((x0 op x1) op x2) ..., element by element, whatever the MPI library does, so that floating-point
 * results depend neither on it nor on where the ranks are. A vector is cut into as many slices as
 * there are ranks; each rank gets its slice from all, folds it, and sends the result to the ranks
 * that need it.
 *
 * Vectors in device memory are folded in copies on the host, and the result is copied back.
 */
#include "det/det_reductions.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "det/det_device.h"
#include "preload/constants.h"

struct vectors {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    int rank, size;
    MPI_Count lower, extent;
    int *counts, *places; /* slices, by rank */
    int *block_places;    /* of what this rank gets */
    char *memory, *blocks;
};

bool rp_det_is_fixed(MPI_Comm comm)
{
    int is_inter = 1;

    if (rp_det.fixed_reductions && comm != rp_constant.comm_null)
        rp_pmpi.Comm_test_inter(comm, &is_inter);
    return !is_inter;
}

static void *need(void *memory)
{
    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory for a reduction");
    return memory;
}

static void open_vectors(struct vectors *v, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    *v = (struct vectors){.comm = comm, .type = type, .op = op};
    rp_pmpi.Comm_rank(comm, &v->rank);
    rp_pmpi.Comm_size(comm, &v->size);
    rp_pmpi.Type_get_extent_x(type, &v->lower, &v->extent);
    v->counts = need(calloc((size_t)v->size * 3, sizeof *v->counts));
    v->places = v->counts + v->size;
    v->block_places = v->places + v->size;
}

static void close_vectors(struct vectors *v)
{
    free(v->counts);
    free(v->memory);
}

static void cut_evenly(struct vectors *v, int count)
{
    for (int i = 0, place = 0; i < v->size; i++) {
        v->counts[i] = count / v->size + (i < count % v->size);
        v->places[i] = place;
        place += v->counts[i];
    }
}

static char *block(const struct vectors *v, int rank)
{
    return v->blocks + v->extent * v->block_places[rank];
}

static void make_blocks(struct vectors *v, int each)
{
    MPI_Count lower, extent;

    rp_pmpi.Type_get_true_extent_x(v->type, &lower, &extent);
    v->memory = need(calloc(1, (size_t)(v->extent * each * v->size + extent + v->extent + 16)));
    v->blocks = v->memory - lower;
    for (int i = 0; i < v->size; i++)
        v->block_places[i] = i * each;
}

/* The slice of this rank, from all, folded; it is in the block of the last rank. */
static int fold_slice(struct vectors *v, const void *from)
{
    int own = v->counts[v->rank], *same = need(calloc((size_t)v->size, sizeof *same));

    make_blocks(v, own);
    for (int i = 0; i < v->size; i++)
        same[i] = own;
    int rc = rp_pmpi.Alltoallv(from, v->counts, v->places, v->type, v->blocks, same,
                               v->block_places, v->type, v->comm);
    free(same);
    for (int i = 1; i < v->size && rc == MPI_SUCCESS && own > 0; i++)
        rc = rp_pmpi.Reduce_local(block(v, i - 1), block(v, i), own, v->type, v->op);
    return rc;
}

int rp_det_fixed_Allreduce(const void *from, void *into, MPI_Count count, MPI_Datatype type,
                           MPI_Op op, MPI_Comm comm)
{
    struct rp_det_on_host on_host;
    struct vectors v;

    open_vectors(&v, type, op, comm);
    cut_evenly(&v, (int)count);
    rp_det_to_host(&on_host, &from, count, &into, count, type);
    int rc = fold_slice(&v, from == MPI_IN_PLACE ? into : from);
    if (rc == MPI_SUCCESS)
        rc = rp_pmpi.Allgatherv(block(&v, v.size - 1), v.counts[v.rank], type, into, v.counts,
                                v.places, type, comm);
    rp_det_from_host(&on_host, count, type);
    close_vectors(&v);
    return rc;
}

int rp_det_fixed_Reduce(const void *from, void *into, MPI_Count count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm)
{
    struct rp_det_on_host on_host;
    struct vectors v;

    open_vectors(&v, type, op, comm);
    cut_evenly(&v, (int)count);
    MPI_Count taken = v.rank == root ? count : 0;
    rp_det_to_host(&on_host, &from, count, &into, taken, type);
    int rc = fold_slice(&v, from == MPI_IN_PLACE ? into : from);
    if (rc == MPI_SUCCESS)
        rc = rp_pmpi.Gatherv(block(&v, v.size - 1), v.counts[v.rank], type, into, v.counts,
                             v.places, type, root, comm);
    rp_det_from_host(&on_host, taken, type);
    close_vectors(&v);
    return rc;
}

/* What this rank folded is its own result. */
static int keep_slice(struct vectors *v, const void *from, void *into)
{
    int own = v->counts[v->rank], all = v->places[v->size - 1] + v->counts[v->size - 1];
    struct rp_det_on_host on_host;

    rp_det_to_host(&on_host, &from, all, &into, own, v->type);
    int rc = fold_slice(v, from == MPI_IN_PLACE ? into : from);
    if (rc == MPI_SUCCESS)
        rc = rp_pmpi.Sendrecv(block(v, v->size - 1), own, v->type, 0, 0, into, own, v->type, 0, 0,
                              rp_constant.self, MPI_STATUS_IGNORE);
    rp_det_from_host(&on_host, own, v->type);
    close_vectors(v);
    return rc;
}

static void place_slices(struct vectors *v)
{
    for (int i = 1; i < v->size; i++)
        v->places[i] = v->places[i - 1] + v->counts[i - 1];
}

int rp_det_fixed_Reduce_scatter(const void *from, void *into, const int *counts, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm)
{
    struct vectors v;

    open_vectors(&v, type, op, comm);
    memcpy(v.counts, counts, (size_t)v.size * sizeof *counts);
    place_slices(&v);
    return keep_slice(&v, from, into);
}

int rp_det_fixed_Reduce_scatter_block(const void *from, void *into, MPI_Count count,
                                      MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct vectors v;

    open_vectors(&v, type, op, comm);
    for (int i = 0; i < v.size; i++)
        v.counts[i] = (int)count;
    place_slices(&v);
    return keep_slice(&v, from, into);
}

/* Here every rank gets all vectors, and folds as many as it needs. */
static int scan(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op,
                MPI_Comm comm, bool is_exclusive)
{
    struct rp_det_on_host on_host;
    struct vectors v;

    open_vectors(&v, type, op, comm);
    make_blocks(&v, count);
    rp_det_to_host(&on_host, &from, count, &into, count, type);
    int rc = rp_pmpi.Allgather(from == MPI_IN_PLACE ? into : from, count, type, v.blocks, count,
                               type, comm),
        last = v.rank - is_exclusive;
    for (int i = 1; i <= last && rc == MPI_SUCCESS && count > 0; i++)
        rc = rp_pmpi.Reduce_local(block(&v, i - 1), block(&v, i), count, type, op);
    if (rc == MPI_SUCCESS && last >= 0)
        rc = rp_pmpi.Sendrecv(block(&v, last), count, type, 0, 0, into, count, type, 0, 0,
                              rp_constant.self, MPI_STATUS_IGNORE);
    rp_det_from_host(&on_host, last >= 0 ? count : 0, type);
    close_vectors(&v);
    return rc;
}

int rp_det_fixed_Scan(const void *from, void *into, MPI_Count count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm)
{
    return scan(from, into, (int)count, type, op, comm, false);
}

int rp_det_fixed_Exscan(const void *from, void *into, MPI_Count count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm)
{
    return scan(from, into, (int)count, type, op, comm, true);
}
