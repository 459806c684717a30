/* SPDX-License-Identifier: MIT */
/* One attempt at a recovery: the processes that live, and what they know of each other. */
#ifndef RP_FT_ATTEMPT_H
#define RP_FT_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/ft_generations.h"
#include "ft/ft_mpi.h"

/* What a process says of itself. */
struct rp_ft_member {
    int32_t rank; /* -1: a spare */
    int32_t finished;
    int32_t spares, respawned; /* that it knows of: one that was started later knows of none */
    int32_t knows_hosts;       /* one that was started later does not */
    int64_t own[RP_FT_GENERATIONS];
};

typedef int64_t rp_ft_generations[RP_FT_GENERATIONS]; /* -1: none */

/* What a rank has of its channel from another one. */
struct rp_ft_counts {
    uint64_t arrived, setup_arrived;
    uint64_t missing, missing_setup;
};

struct rp_ft_attempt {
    MPI_Comm comm;
    int size, me;
    struct rp_ft_member *member;  /* of each process */
    int *rank_of;                 /* of each process, with the new ones; -1: a spare */
    int *process_of;              /* of each rank */
    rp_ft_generations *held;      /* of each rank, by each of its buddies that lives */
    rp_ft_generations *files;     /* of each new process: what files have of its rank */
    rp_ft_generations *available; /* of each rank: what can be had of it now */
    int64_t restart;              /* the generation that new ranks begin with; -1: the beginning */
    struct rp_ft_counts *ours, *theirs;
    uint64_t **missing; /* per process: both lists of theirs, one behind the other */
    int lacking;        /* spares */
    bool ended, ok;
};

/* Prepares an attempt in `comm`, which is set: all exchange who they are, and which checkpoints
 * they have. `ok` is false if a process died meanwhile. */
void rp_ft_attempt_begin(struct rp_ft_attempt *a);

/* Frees what it has, and clears it. */
void rp_ft_attempt_end(struct rp_ft_attempt *a);

/* Returns whether all went well until now, and this code is MPI_SUCCESS; else the communicator is
 * revoked, so that no other process waits in it. */
bool rp_ft_try(struct rp_ft_attempt *a, int code);

/* What rp_ft_attempt_agree returns: bits. */
enum { RP_FT_AGREED = 1, RP_FT_SUFFICES = 2 };

/* All agree: RP_FT_AGREED if all went well everywhere; RP_FT_SUFFICES if all logs suffice. */
int rp_ft_attempt_agree(struct rp_ft_attempt *a, bool suffices);

/* Returns whether this process takes over a rank. */
bool rp_ft_is_new(const struct rp_ft_attempt *a, int process);

/* Returns the RP_FT_GENERATIONS generations of a rank that its buddy of this number has. */
int64_t *rp_ft_held_by(const struct rp_ft_attempt *a, int rank, int copy);

/* Returns the latest of these; -1: none. */
int64_t rp_ft_latest(const int64_t list[RP_FT_GENERATIONS]);

#endif
