/* SPDX-License-Identifier: MIT */
/* Digests of what this process contributes to a collective call. With MPI_IN_PLACE the contribution
 * is in the other buffer. On an intercommunicator, the size of the remote group counts, and a root
 * passes MPI_ROOT. */
#include <stdbool.h>

#include "outputs/outputs.h"
#include "preload/constants.h"

static int64_t number(const void *array, size_t size, int i)
{
    return size == sizeof(int) ? ((const int *)array)[i] : ((const int64_t *)array)[i];
}

static bool is_between(MPI_Comm comm)
{
    int flag = 0;

    rp_pmpi.Comm_test_inter(comm, &flag);
    return flag;
}

static int own_rank(MPI_Comm comm)
{
    int rank = 0;

    rp_pmpi.Comm_rank(comm, &rank);
    return rank;
}

static int others(MPI_Comm comm)
{
    int size = 0;

    if (is_between(comm))
        rp_pmpi.Comm_remote_size(comm, &size);
    else
        rp_pmpi.Comm_size(comm, &size);
    return size;
}

static int members(MPI_Comm comm)
{
    int size = 0;

    rp_pmpi.Comm_size(comm, &size);
    return size;
}

static bool is_root(int root, MPI_Comm comm)
{
    return is_between(comm) ? root == MPI_ROOT : root == own_rank(comm);
}

/* Returns whether this process sends to the root. On an intercommunicator, the processes of the
 * root's own group do not. */
static bool gives_to_root(int root, MPI_Comm comm)
{
    return !is_between(comm) || root >= 0;
}

static void one(const void *buf, MPI_Count count, MPI_Datatype type, int peer)
{
    rp_outputs_start();
    rp_outputs_add(buf, count, type);
    rp_outputs_digest(peer);
}

static void nothing(int peer)
{
    rp_outputs_start();
    rp_outputs_digest(peer);
}

static void several(const void *in, const void *counts, size_t count_size, const void *places,
                    size_t place_size, MPI_Datatype type, int parts)
{
    rp_outputs_start();
    for (int i = 0; i < parts; i++)
        rp_outputs_add(rp_outputs_at(in, number(places, place_size, i), type),
                       number(counts, count_size, i), type);
    rp_outputs_digest(MPI_PROC_NULL);
}

static void several_types(const void *in, const void *counts, size_t count_size, const void *places,
                          size_t place_size, const MPI_Datatype *types, int parts)
{
    rp_outputs_start();
    for (int i = 0; i < parts; i++)
        rp_outputs_add((const void *)((uintptr_t)in + (uintptr_t)number(places, place_size, i)),
                       number(counts, count_size, i), types[i]);
    rp_outputs_digest(MPI_PROC_NULL);
}

void rp_outputs_bcast(const void *buf, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    if (is_root(root, comm))
        one(buf, count, type, MPI_PROC_NULL);
    else
        nothing(root);
}

void rp_outputs_allgather(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                          MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm)
{
    if (in == MPI_IN_PLACE)
        one(rp_outputs_at(out, own_rank(comm) * out_count, out_type), out_count, out_type,
            MPI_PROC_NULL);
    else
        one(in, count, type, MPI_PROC_NULL);
}

void rp_outputs_gather(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                       MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm)
{
    if (gives_to_root(root, comm))
        rp_outputs_allgather(in, count, type, out, out_count, out_type, comm);
    else
        nothing(root);
}

void rp_outputs_allgatherv(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                           const void *counts, size_t count_size, const void *places,
                           size_t place_size, MPI_Datatype out_type, MPI_Comm comm)
{
    int rank = own_rank(comm);

    if (in == MPI_IN_PLACE)
        one(rp_outputs_at(out, number(places, place_size, rank), out_type),
            number(counts, count_size, rank), out_type, MPI_PROC_NULL);
    else
        one(in, count, type, MPI_PROC_NULL);
}

void rp_outputs_gatherv(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                        const void *counts, size_t count_size, const void *places,
                        size_t place_size, MPI_Datatype out_type, int root, MPI_Comm comm)
{
    if (gives_to_root(root, comm))
        rp_outputs_allgatherv(in, count, type, out, counts, count_size, places, place_size,
                              out_type, comm);
    else
        nothing(root);
}

void rp_outputs_scatter(const void *in, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    if (is_root(root, comm))
        one(in, count * others(comm), type, MPI_PROC_NULL);
    else
        nothing(root);
}

void rp_outputs_scatterv(const void *in, const void *counts, size_t count_size, const void *places,
                         size_t place_size, MPI_Datatype type, int root, MPI_Comm comm)
{
    if (is_root(root, comm))
        several(in, counts, count_size, places, place_size, type, others(comm));
    else
        nothing(root);
}

void rp_outputs_alltoall(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                         MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm)
{
    if (in == MPI_IN_PLACE)
        one(out, out_count * others(comm), out_type, MPI_PROC_NULL);
    else
        one(in, count * others(comm), type, MPI_PROC_NULL);
}

void rp_outputs_alltoallv(const void *in, const void *counts, size_t count_size, const void *places,
                          size_t place_size, MPI_Datatype type, const void *out,
                          const void *out_counts, const void *out_places, MPI_Datatype out_type,
                          MPI_Comm comm)
{
    if (in == MPI_IN_PLACE)
        several(out, out_counts, count_size, out_places, place_size, out_type, others(comm));
    else
        several(in, counts, count_size, places, place_size, type, others(comm));
}

void rp_outputs_alltoallw(const void *in, const void *counts, size_t count_size, const void *places,
                          size_t place_size, const MPI_Datatype *types, const void *out,
                          const void *out_counts, const void *out_places,
                          const MPI_Datatype *out_types, MPI_Comm comm)
{
    if (in == MPI_IN_PLACE)
        several_types(out, out_counts, count_size, out_places, place_size, out_types, others(comm));
    else
        several_types(in, counts, count_size, places, place_size, types, others(comm));
}

void rp_outputs_allreduce(const void *in, const void *out, MPI_Count count, MPI_Datatype type)
{
    one(in == MPI_IN_PLACE ? out : in, count, type, MPI_PROC_NULL);
}

void rp_outputs_reduce(const void *in, const void *out, MPI_Count count, MPI_Datatype type,
                       int root, MPI_Comm comm)
{
    if (gives_to_root(root, comm))
        rp_outputs_allreduce(in, out, count, type);
    else
        nothing(root);
}

void rp_outputs_reduce_scatter(const void *in, const void *out, const void *counts,
                               size_t count_size, MPI_Datatype type, MPI_Comm comm)
{
    MPI_Count sum = 0;

    for (int i = 0, size = members(comm); i < size; i++)
        sum += number(counts, count_size, i);
    rp_outputs_allreduce(in, out, sum, type);
}

void rp_outputs_reduce_scatter_block(const void *in, const void *out, MPI_Count count,
                                     MPI_Datatype type, MPI_Comm comm)
{
    rp_outputs_allreduce(in, out, count * members(comm), type);
}

/* Neighbours */

static int neighbours(MPI_Comm comm)
{
    int topology = MPI_UNDEFINED, in = 0, out = 0, weighted;

    rp_pmpi.Topo_test(comm, &topology);
    if (topology == MPI_CART && rp_pmpi.Cartdim_get(comm, &out) == MPI_SUCCESS)
        return 2 * out;
    if (topology == MPI_GRAPH)
        rp_pmpi.Graph_neighbors_count(comm, own_rank(comm), &out);
    else if (topology == MPI_DIST_GRAPH)
        rp_pmpi.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    return out;
}

void rp_outputs_neighbor_allgather(const void *in, MPI_Count count, MPI_Datatype type)
{
    one(in, count, type, MPI_PROC_NULL);
}

void rp_outputs_neighbor_alltoall(const void *in, MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    one(in, count * neighbours(comm), type, MPI_PROC_NULL);
}

void rp_outputs_neighbor_alltoallv(const void *in, const void *counts, size_t count_size,
                                   const void *places, size_t place_size, MPI_Datatype type,
                                   MPI_Comm comm)
{
    several(in, counts, count_size, places, place_size, type, neighbours(comm));
}

void rp_outputs_neighbor_alltoallw(const void *in, const void *counts, size_t count_size,
                                   const void *places, size_t place_size, const MPI_Datatype *types,
                                   MPI_Comm comm)
{
    several_types(in, counts, count_size, places, place_size, types, neighbours(comm));
}
