/* SPDX-License-Identifier: MIT */
/* The messages that have come to this rank and were not given to its program yet, whoever they are
 * for; and the communicators that they can come by. */
#ifndef RP_CDC_REPLAY_POOL_H
#define RP_CDC_REPLAY_POOL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cdc/replay/cdc_replay_rows.h"

struct rp_pooled {
    struct rp_pooled *next, *previous;
    struct rp_pooled *chain; /* of its bucket, or of those that are not here yet */
    MPI_Comm comm;
    int source, tag;
    int32_t sender; /* rank in MPI_COMM_WORLD */
    uint64_t clock;
    size_t length; /* of the payload */
    unsigned char *payload;
    unsigned char *bytes; /* as they came */
    MPI_Request request;
    bool is_here;
};

void rp_pool_open(void);

/* Messages may come by this communicator. */
void rp_pool_know(MPI_Comm comm);
void rp_pool_forget(MPI_Comm comm);

/* Hooks of the piggyback library. */
void rp_pool_sending(MPI_Comm comm, int dest);
void rp_pool_made(MPI_Comm comm);

/* A collective call on the communicator is entered: published, if the others know the communicator
 * by number. */
void rp_pool_enter(MPI_Comm comm);

/* Takes in what has come. */
void rp_pool_poll(void);

/* The message of this rank with this clock; NULL: it is not here. */
struct rp_pooled *rp_pool_find(int32_t rank, uint64_t clock);

/* The message of this place in the reference order of the table that is next; NULL: it is not here,
 * or not certain yet. */
struct rp_pooled *rp_pool_place(uint32_t place);

/* What came shows that what was given by its place, or is next, may be wrong: why. NULL: it does
 * not. */
const char *rp_pool_fault(void);

/* In the order in which they came: the first behind `after` (NULL: of all) that a receive with
 * these arguments could take, here or still coming in. */
struct rp_pooled *rp_pool_after(const struct rp_pooled *after, int source, int tag, MPI_Comm comm);

/* This message (of kind MESSAGE; of another: any) is waited for: what it may be is published from
 * now on. Between rp_cdc_replay_begin and rp_cdc_replay_end. */
void rp_pool_want(const struct rp_answer *answer);

/* It is given to the program. */
void rp_pool_remove(struct rp_pooled *message);
void rp_pool_drop(struct rp_pooled *message);

#endif
