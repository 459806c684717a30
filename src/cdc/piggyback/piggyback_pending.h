/* SPDX-License-Identifier: MIT */
/* Pending messages, found by the request that stands for them. */
#ifndef RP_PIGGYBACK_PENDING_H
#define RP_PIGGYBACK_PENDING_H

#include <mpi.h>

#include "cdc/piggyback/piggyback_message.h"

extern unsigned rp_messages_pending; /* messages that have a request */
extern unsigned rp_messages_freed;   /* messages whose request the program freed */

/* The request stands for the message from now on. */
void rp_pending_add(MPI_Request request, struct rp_piggyback_message *message);

/* Returns the message that a request stands for; NULL if it stands for none. */
struct rp_piggyback_message *rp_pending_find(MPI_Request request);

/* The request is gone, and the message with it. */
void rp_pending_remove(struct rp_piggyback_message *message);

/* The program freed the request while it was active: we keep it, since the message is needed until
 * it is complete. */
void rp_pending_keep_freed(struct rp_piggyback_message *message);

/* Looks after those kept: what they received is the program's. To be called wherever MPI may get
 * on. */
void rp_pending_settle_freed(void);

static inline void rp_pending_poll_freed(void)
{
    if (__builtin_expect(rp_messages_freed > 0, 0))
        rp_pending_settle_freed();
}

#endif
