/* SPDX-License-Identifier: MIT */
/* The messages that have arrived at this rank and were not yet delivered to its program, whichever
 * receive will take them; and the communicators on which they can arrive. */
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
    unsigned char *bytes; /* as received */
    MPI_Request request;
    bool is_here;
};

void rp_pool_open(void);

/* Messages may arrive on this communicator from now on; or no longer. */
void rp_pool_know(MPI_Comm comm);
void rp_pool_forget(MPI_Comm comm);

/* Hooks of the piggyback library. */
void rp_pool_sending(MPI_Comm comm, int dest);
void rp_pool_made(MPI_Comm comm);

/* A collective call on the communicator is entered: published, if the others know the communicator
 * by number. */
void rp_pool_enter(MPI_Comm comm);

/* Receives what has arrived. */
void rp_pool_poll(void);

/* Returns the message of this rank with this clock; NULL: it has not arrived. */
struct rp_pooled *rp_pool_find(int32_t rank, uint64_t clock);

/* Returns the message at this position in the reference order of the next table; NULL: it has not
 * arrived, or is not certain yet. */
struct rp_pooled *rp_pool_at(uint32_t position);

/* Returns why a message delivered by its position, or the next one, may be the wrong one, as the
 * messages that arrived show; NULL: they show nothing of the kind. */
const char *rp_pool_fault(void);

/* Returns the first message behind `after` (NULL: the first of all), in the order of arrival, that
 * a receive with these arguments could take; it may still be arriving. */
struct rp_pooled *rp_pool_after(const struct rp_pooled *after, int source, int tag, MPI_Comm comm);

/* The rank waits for this message (kind MESSAGE; another kind: for any). From now on it publishes
 * the least clock that this message can have. Between rp_cdc_replay_begin and rp_cdc_replay_end. */
void rp_pool_want(const struct rp_answer *answer);

/* Takes a message that is delivered to the program out of the pool; rp_pool_drop frees it. */
void rp_pool_remove(struct rp_pooled *message);
void rp_pool_drop(struct rp_pooled *message);

#endif
