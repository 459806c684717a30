/* SPDX-License-Identifier: MIT */
#include "partial/partial_members.h"

static bool is_inter(MPI_Comm comm)
{
    int flag = 0;

    rp_pmpi.Comm_test_inter(comm, &flag);
    return flag != 0;
}

static int rank_in(MPI_Comm comm)
{
    int rank = -1;

    rp_pmpi.Comm_rank(comm, &rank);
    return rank;
}

uint64_t rp_members_all(MPI_Comm comm)
{
    int size = 0;

    if (is_inter(comm))
        rp_pmpi.Comm_remote_size(comm, &size);
    else
        rp_pmpi.Comm_size(comm, &size);
    return (uint64_t)size;
}

uint64_t rp_members_at_root(MPI_Comm comm, int root)
{
    return is_inter(comm) ? root == MPI_ROOT : rank_in(comm) == root;
}

uint64_t rp_members_root(MPI_Comm comm, int root)
{
    return rp_members_at_root(comm, root) ? rp_members_all(comm) : 0;
}

uint64_t rp_members_leaf(MPI_Comm comm, int root)
{
    return is_inter(comm) ? root != MPI_ROOT && root != MPI_PROC_NULL : rank_in(comm) != root;
}

uint64_t rp_members_scatter(MPI_Comm comm, int root, const void *buf)
{
    if (is_inter(comm))
        return root != MPI_ROOT && root != MPI_PROC_NULL;
    return buf != MPI_IN_PLACE;
}

uint64_t rp_members_mine(MPI_Comm comm)
{
    return (uint64_t)rank_in(comm) + 1;
}

uint64_t rp_members_near(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED, in = 0, out, weighted;

    rp_pmpi.Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        rp_pmpi.Cartdim_get(comm, &in);
        in *= 2;
    } else if (kind == MPI_GRAPH) {
        rp_pmpi.Graph_neighbors_count(comm, rank_in(comm), &in);
    } else if (kind == MPI_DIST_GRAPH) {
        rp_pmpi.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    }
    return (uint64_t)in;
}

uint64_t rp_members_weighted(MPI_Comm comm, const int *weights)
{
    int in, out, weighted = 0;

    if (weights == rp_constant.unweighted)
        return 0;
    rp_pmpi.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    return weighted != 0;
}
