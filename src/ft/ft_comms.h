/* SPDX-License-Identifier: MIT */
/* The program's communicators: which there are. */
#ifndef RP_FT_COMMS_H
#define RP_FT_COMMS_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/ft_mpi.h"

enum { RP_FT_CONTEXTS_A_COMM = 2 }; /* messages and collectives */

enum rp_ft_topology { RP_FT_NO_TOPOLOGY, RP_FT_CART, RP_FT_DIST_GRAPH };

struct rp_ft_comm {
    MPI_Comm handle; /* a real one of this process alone: attributes, names, error handlers are its
                        own */
    int32_t context; /* and the next */
    int rank, size;
    int *members; /* ranks of the world */
    enum rp_ft_topology topology;
    int dims, *dim, *periodic, *coords;                  /* cartesian */
    int in_degree, out_degree, *in, *out, *in_w, *out_w; /* neighbours */
    int weighted;
    bool in_loop;         /* made after the setup */
    uint32_t collectives; /* calls so far */
    struct rp_ft_comm *next;
};

/* Makes MPI_COMM_WORLD and MPI_COMM_SELF. */
void rp_ft_comms_start(void);

/* Returns the communicator of a handle. Ends the job, by the program's error handler if there is
 * one, if it is none. */
struct rp_ft_comm *rp_ft_comm_of(MPI_Comm handle);

/* Returns MPI_COMM_WORLD. */
struct rp_ft_comm *rp_ft_comm_world(void);

/* Returns the communicator whose first context this is, or NULL. */
struct rp_ft_comm *rp_ft_comm_by_context(int32_t context);

/* Makes a communicator of these ranks of the world, which it copies. Its handle is a new one, with
 * the error handler of `parent`, and with its attributes if it `copies` that. It is freed by
 * MPI_Comm_free. */
struct rp_ft_comm *rp_ft_comm_add(const struct rp_ft_comm *parent, bool copies, int32_t context,
                                  int size, const int *members);

/* Copies the topology of a communicator to one that has none. */
void rp_ft_comm_copy_topology(const struct rp_ft_comm *from, struct rp_ft_comm *to);

/* Returns a copy of these numbers, which the caller frees; NULL of NULL. */
int *rp_ft_copy_ints(const int *from, int count);

/* Returns the ranks of the world that are in a group, which the caller frees. */
int *rp_ft_comm_ranks_of_group(MPI_Group group, int *count);

/* Frees those that were made in the loop. */
void rp_ft_comms_forget_loop(void);

/* Returns whether there are such. */
bool rp_ft_comms_has_of_loop(void);

/* Returns the rank in the world of a rank of `comm`. */
int rp_ft_world_rank(const struct rp_ft_comm *comm, int peer);

/* Calls the communicator's error handler. Returns `code`. */
int rp_ft_error(struct rp_ft_comm *comm, int code);

/* The same, if it is still there; else that of the world. */
int rp_ft_error_of(const struct rp_ft_comm *comm, int code);

/* The first context that no communicator has: here, to be read and set from a checkpoint. */
int32_t rp_ft_next_context(void);
void rp_ft_set_next_context(int32_t context);

/* A communicator has this context: later ones get later ones. */
void rp_ft_context_is_used(int32_t context);

#endif
