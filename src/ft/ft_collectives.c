/* SPDX-License-Identifier: MIT */
/* MPI's collective functions, blocking and nonblocking, and those that the library calls itself. */
#include "ft/ft_collectives.h"

#include "ft/ft_collective.h"
#include "ft/ft_data_movement.h"
#include "ft/ft_progress.h"
#include "ft/ft_reductions.h"
#include "ft/ft_request.h"
#include "ft/ft_state.h"

void rp_ft_barrier(struct rp_ft_comm *comm)
{
    rp_ft_collective_run((struct rp_ft_collective){.run = rp_ft_run_barrier, .comm = comm});
}

void rp_ft_allgather(struct rp_ft_comm *comm, const void *own, size_t bytes, void *all)
{
    rp_ft_collective_run((struct rp_ft_collective){.run = rp_ft_run_allgather,
                                                   .comm = comm,
                                                   .in = own,
                                                   .in_count = (int)bytes,
                                                   .in_type = MPI_BYTE,
                                                   .out = all,
                                                   .out_count = (int)bytes,
                                                   .out_type = MPI_BYTE});
}

void rp_ft_exchange_markers(struct rp_ft_comm *world, uint64_t *markers)
{
    struct rp_ft_collective call = {.comm = world};
    int size = world->size, rank = world->rank;

    rp_ft_collective_number(&call);
    for (int step = 1; step < size; step++)
        rp_ft_collective_send(&call, (rank + step) % size, NULL, 0, MPI_BYTE);
    for (int step = 1; step < size; step++) {
        int from = (rank - step + size) % size;
        struct rp_ft_request *request = rp_ft_collective_post(&call, 0, from, NULL, 0, MPI_BYTE);
        RP_FT_WAIT_UNTIL(rp_ft_request_done(request));
        markers[from] = request->taken.seq + 1;
        rp_ft_request_free(request);
    }
}

/* The functions of MPI: each as it is, and in the background. */

#define P(...) __VA_ARGS__
#define COLLECTIVE(NAME, INAME, PARAMETERS, FUNCTION, ...)                                         \
    int rp_ft_##NAME(PARAMETERS, MPI_Comm comm)                                                    \
    {                                                                                              \
        return rp_ft_collective_run(                                                               \
            (struct rp_ft_collective){.run = FUNCTION, .comm = rp_ft_comm_of(comm), __VA_ARGS__}); \
    }                                                                                              \
    int rp_ft_##INAME(PARAMETERS, MPI_Comm comm, MPI_Request *request)                             \
    {                                                                                              \
        return rp_ft_collective_start((struct rp_ft_collective){.run = FUNCTION,                   \
                                                                .comm = rp_ft_comm_of(comm),       \
                                                                __VA_ARGS__},                      \
                                      request);                                                    \
    }

int rp_ft_Barrier(MPI_Comm comm)
{
    return rp_ft_collective_run(
        (struct rp_ft_collective){.run = rp_ft_run_barrier, .comm = rp_ft_comm_of(comm)});
}

int rp_ft_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return rp_ft_collective_start((struct rp_ft_collective){.run = rp_ft_run_barrier,
                                                            .comm = rp_ft_comm_of(comm)},
                                  request);
}

COLLECTIVE(Bcast, Ibcast, P(void *buffer, int count, MPI_Datatype type, int root), rp_ft_run_bcast,
           .out = buffer, .out_count = count, .out_type = type, .root = root)
COLLECTIVE(Reduce, Ireduce,
           P(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root),
           rp_ft_run_reduce, .in = in, .out = out, .out_count = count, .out_type = type, .op = op,
           .root = root)
COLLECTIVE(Allreduce, Iallreduce,
           P(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op),
           rp_ft_run_allreduce, .in = in, .out = out, .out_count = count, .out_type = type,
           .op = op)
COLLECTIVE(Scan, Iscan, P(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op),
           rp_ft_run_scan, .in = in, .out = out, .out_count = count, .out_type = type, .op = op)
COLLECTIVE(Exscan, Iexscan, P(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op),
           rp_ft_run_exscan, .in = in, .out = out, .out_count = count, .out_type = type, .op = op)
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           P(const void *in, void *out, const int *counts, MPI_Datatype type, MPI_Op op),
           rp_ft_run_reduce_scatter, .in = in, .out = out, .out_counts = counts, .out_type = type,
           .op = op)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
           P(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op),
           rp_ft_run_reduce_scatter, .in = in, .out = out, .out_count = count, .out_type = type,
           .op = op)

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

COLLECTIVE(Gather, Igather, P(P_IN, P_OUT, int root), rp_ft_run_gather, IN, OUT, .root = root,
           .out_at_root = true)
COLLECTIVE(Gatherv, Igatherv, P(P_IN, P_OUTS, int root), rp_ft_run_gather, IN, OUTS, .root = root,
           .out_at_root = true)
COLLECTIVE(Scatter, Iscatter, P(P_IN, P_OUT, int root), rp_ft_run_scatter, IN, OUT, .root = root,
           .in_at_root = true)
COLLECTIVE(Scatterv, Iscatterv, P(P_INS, P_OUT, int root), rp_ft_run_scatter, INS, OUT,
           .root = root, .in_at_root = true)
COLLECTIVE(Allgather, Iallgather, P(P_IN, P_OUT), rp_ft_run_allgather, IN, OUT)
COLLECTIVE(Allgatherv, Iallgatherv, P(P_IN, P_OUTS), rp_ft_run_allgather, IN, OUTS)
COLLECTIVE(Alltoall, Ialltoall, P(P_IN, P_OUT), rp_ft_run_alltoall, IN, OUT)
COLLECTIVE(Alltoallv, Ialltoallv, P(P_INS, P_OUTS), rp_ft_run_alltoall, INS, OUTS)
COLLECTIVE(Alltoallw, Ialltoallw, P(P_W), rp_ft_run_alltoall, .in = in, .in_counts = in_counts,
           .in_displs = in_displs, .in_types = in_types, .out = out, .out_counts = out_counts,
           .out_displs = out_displs, .out_types = out_types)
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, P(P_IN, P_OUT), rp_ft_run_neighbor_allgather,
           IN, OUT)
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, P(P_IN, P_OUTS), rp_ft_run_neighbor_allgather,
           IN, OUTS)
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, P(P_IN, P_OUT), rp_ft_run_neighbor_alltoall, IN,
           OUT)
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, P(P_INS, P_OUTS), rp_ft_run_neighbor_alltoall,
           INS, OUTS)
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, P(P_NW), rp_ft_run_neighbor_alltoall, .in = in,
           .in_counts = in_counts, .in_bytes = in_bytes, .in_types = in_types, .out = out,
           .out_counts = out_counts, .out_bytes = out_bytes, .out_types = out_types)
