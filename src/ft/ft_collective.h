/* SPDX-License-Identifier: MIT */
/* One collective call: its arguments, its messages, and how it runs. */
#ifndef RP_FT_COLLECTIVE_H
#define RP_FT_COLLECTIVE_H

#include <stdbool.h>

#include "ft/ft_mpi.h"
#include "ft/ft_comms.h"
#include "ft/ft_request.h"

enum { RP_FT_COLLECTIVE_PARTS = 128 }; /* of a call's tag */

struct rp_ft_collective {
    int (*run)(struct rp_ft_collective *call); /* the algorithm; returns an error of MPI */
    struct rp_ft_comm *comm;
    int tag, root;
    const void *in;
    void *out;
    int in_count, out_count;
    MPI_Datatype in_type, out_type;
    const int *in_counts, *in_displs, *out_counts, *out_displs;
    const MPI_Datatype *in_types, *out_types; /* of alltoallw */
    const MPI_Aint *in_bytes, *out_bytes;     /* of neighbor_alltoallw */
    bool in_at_root, out_at_root;             /* this argument means something at the root alone */
    MPI_Op op;
    struct rp_ft_request *request; /* nonblocking */
    struct rp_ft_request *sends;   /* long ones, which end with the call */
    bool owns_in, owns_out;        /* types: the program may free its own */
    bool frees_op;                 /* the program has freed it, as far as it knows */
    struct rp_ft_collective *next; /* of those in the background that have an operation */
};

/* Runs a call. Returns an error of MPI, for which the error handler was called. */
int rp_ft_collective_run(struct rp_ft_collective call);

/* Starts it in the background. Its request is done when it has ended. */
int rp_ft_collective_start(struct rp_ft_collective call, MPI_Request *request);

/* Gives it the next number of its communicator. The two above do that. */
void rp_ft_collective_number(struct rp_ft_collective *call);

/* Send to a rank of the communicator, as this part of the call, or part 0. The buffer may change
 * when they return. */
void rp_ft_collective_send_part(struct rp_ft_collective *call, int part, int to, const void *buffer,
                                int count, MPI_Datatype type);
void rp_ft_collective_send(struct rp_ft_collective *call, int to, const void *buffer, int count,
                           MPI_Datatype type);

/* Posts a receive, for rp_ft_finish. */
struct rp_ft_request *rp_ft_collective_post(struct rp_ft_collective *call, int part, int from,
                                            void *buffer, int count, MPI_Datatype type);

/* Receives part 0. Returns an error of MPI. */
int rp_ft_collective_receive(struct rp_ft_collective *call, int from, void *buffer, int count,
                             MPI_Datatype type);

#endif
