/* SPDX-License-Identifier: MIT */
/* The algorithms of collectives that move data. */
#include "ft/ft_data_movement.h"

#include <stdlib.h>

#include "ft/ft_abort.h"
#include "ft/ft_pt2pt.h"
#include "ft/ft_types.h"

int rp_ft_run_barrier(struct rp_ft_collective *call)
{
    int size = call->comm->size, rank = call->comm->rank;

    for (int distance = 1; distance < size; distance *= 2) {
        rp_ft_collective_send(call, (rank + distance) % size, NULL, 0, MPI_BYTE);
        rp_ft_collective_receive(call, (rank - distance + size) % size, NULL, 0, MPI_BYTE);
    }
    return MPI_SUCCESS;
}

/* Binomial tree, from the root. */
int rp_ft_run_bcast(struct rp_ft_collective *call)
{
    int size = call->comm->size, place = (call->comm->rank - call->root + size) % size, bit = 1,
        error = MPI_SUCCESS;

    while (bit < size && !(place & bit))
        bit *= 2;
    if (place)
        error = rp_ft_collective_receive(call, (place - bit + call->root) % size, call->out,
                                         call->out_count, call->out_type);
    for (bit /= 2; bit > 0; bit /= 2)
        if (place + bit < size)
            rp_ft_collective_send(call, (place + bit + call->root) % size, call->out,
                                  call->out_count, call->out_type);
    return error;
}

static int out_count_of(const struct rp_ft_collective *call, int peer)
{
    return call->out_counts ? call->out_counts[peer] : call->out_count;
}

static void *out_at(const struct rp_ft_collective *call, int peer)
{
    if (call->out_types)
        return (char *)call->out +
               (call->out_bytes ? call->out_bytes[peer] : call->out_displs[peer]);
    return rp_ft_offset(call->out,
                        call->out_displs ? call->out_displs[peer] : (long)peer * call->out_count,
                        call->out_type);
}

static int in_count_of(const struct rp_ft_collective *call, int peer)
{
    return call->in_counts ? call->in_counts[peer] : call->in_count;
}

static void *in_at(const struct rp_ft_collective *call, int peer)
{
    if (call->in_types)
        return (char *)call->in + (call->in_bytes ? call->in_bytes[peer] : call->in_displs[peer]);
    return rp_ft_offset(call->in,
                        call->in_displs ? call->in_displs[peer] : (long)peer * call->in_count,
                        call->in_type);
}

static MPI_Datatype out_type_of(const struct rp_ft_collective *call, int peer)
{
    return call->out_types ? call->out_types[peer] : call->out_type;
}

static MPI_Datatype in_type_of(const struct rp_ft_collective *call, int peer)
{
    return call->in_types ? call->in_types[peer] : call->in_type;
}

int rp_ft_run_gather(struct rp_ft_collective *call)
{
    int size = call->comm->size, rank = call->comm->rank, error = MPI_SUCCESS;

    if (rank != call->root) {
        rp_ft_collective_send(call, call->root, call->in, call->in_count, call->in_type);
        return MPI_SUCCESS;
    }
    if (call->in != MPI_IN_PLACE)
        rp_ft_copy(call->in, call->in_count, call->in_type, out_at(call, rank),
                   out_count_of(call, rank), call->out_type);
    for (int i = 0; i < size; i++)
        if (i != rank) {
            int one = rp_ft_collective_receive(call, i, out_at(call, i), out_count_of(call, i),
                                               call->out_type);
            error = error == MPI_SUCCESS ? one : error;
        }
    return error;
}

int rp_ft_run_scatter(struct rp_ft_collective *call)
{
    int size = call->comm->size, rank = call->comm->rank;

    if (rank != call->root)
        return rp_ft_collective_receive(call, call->root, call->out, call->out_count,
                                        call->out_type);
    for (int i = 0; i < size; i++)
        if (i != rank)
            rp_ft_collective_send(call, i, in_at(call, i), in_count_of(call, i), call->in_type);
    if (call->out != MPI_IN_PLACE)
        rp_ft_copy(in_at(call, rank), in_count_of(call, rank), call->in_type, call->out,
                   call->out_count, call->out_type);
    return MPI_SUCCESS;
}

/* Around a ring. */
int rp_ft_run_allgather(struct rp_ft_collective *call)
{
    int size = call->comm->size, rank = call->comm->rank, error = MPI_SUCCESS;
    int next = (rank + 1) % size, before = (rank - 1 + size) % size;

    if (call->in != MPI_IN_PLACE)
        rp_ft_copy(call->in, call->in_count, call->in_type, out_at(call, rank),
                   out_count_of(call, rank), call->out_type);
    for (int step = 0; step < size - 1; step++) {
        int sent = (rank - step + size) % size, taken = (rank - step - 1 + size) % size;
        rp_ft_collective_send(call, next, out_at(call, sent), out_count_of(call, sent),
                              call->out_type);
        int one = rp_ft_collective_receive(call, before, out_at(call, taken),
                                           out_count_of(call, taken), call->out_type);
        error = error == MPI_SUCCESS ? one : error;
    }
    return error;
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
int rp_ft_run_alltoall(struct rp_ft_collective *call)
{
    int size = call->comm->size, rank = call->comm->rank;
    struct rp_ft_request **requests = rp_ft_alloc((size_t)size * sizeof(struct rp_ft_request *));
    struct rp_ft_collective sent = *call;

    if (call->in == MPI_IN_PLACE) {
        sent.in = call->out;
        sent.in_count = call->out_count;
        sent.in_type = call->out_type;
        sent.in_counts = call->out_counts;
        sent.in_displs = call->out_displs;
        sent.in_types = call->out_types;
    }
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size;
        rp_ft_collective_send(call, to, in_at(&sent, to), in_count_of(&sent, to),
                              in_type_of(&sent, to));
    }
    for (int step = 1; step < size; step++) {
        int from = (rank - step + size) % size;
        requests[step] = rp_ft_collective_post(call, 0, from, out_at(call, from),
                                               out_count_of(call, from), out_type_of(call, from));
    }
    if (call->in != MPI_IN_PLACE)
        rp_ft_copy(in_at(call, rank), in_count_of(call, rank), in_type_of(call, rank),
                   out_at(call, rank), out_count_of(call, rank), out_type_of(call, rank));
    return finish_all(requests, size);
}

/* In a cartesian topology of two or one the neighbours of both sides are the same: the direction
 * of a message distinguishes them. */
static int part_to(const struct rp_ft_comm *comm, int i)
{
    return comm->topology == RP_FT_CART ? (i ^ 1) % RP_FT_COLLECTIVE_PARTS : 0;
}

static int part_from(const struct rp_ft_comm *comm, int i)
{
    return comm->topology == RP_FT_CART ? i % RP_FT_COLLECTIVE_PARTS : 0;
}

static int neighbours(struct rp_ft_collective *call, bool all_to_all)
{
    struct rp_ft_comm *comm = call->comm;
    struct rp_ft_request **requests =
        rp_ft_alloc((size_t)(comm->in_degree + 1) * sizeof(struct rp_ft_request *));

    for (int i = 0; i < comm->out_degree; i++)
        if (comm->out[i] != MPI_PROC_NULL) {
            if (all_to_all)
                rp_ft_collective_send_part(call, part_to(comm, i), comm->out[i], in_at(call, i),
                                           in_count_of(call, i), in_type_of(call, i));
            else
                rp_ft_collective_send_part(call, part_to(comm, i), comm->out[i], call->in,
                                           call->in_count, call->in_type);
        }
    for (int i = 0; i < comm->in_degree; i++)
        if (comm->in[i] != MPI_PROC_NULL)
            requests[i] =
                rp_ft_collective_post(call, part_from(comm, i), comm->in[i], out_at(call, i),
                                      out_count_of(call, i), out_type_of(call, i));
    return finish_all(requests, comm->in_degree);
}

int rp_ft_run_neighbor_allgather(struct rp_ft_collective *call)
{
    return neighbours(call, false);
}

int rp_ft_run_neighbor_alltoall(struct rp_ft_collective *call)
{
    return neighbours(call, true);
}
