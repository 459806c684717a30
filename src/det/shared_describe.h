/* SPDX-License-Identifier: MIT */
/* A deadlock in words. */
#ifndef RP_SHARED_DESCRIBE_H
#define RP_SHARED_DESCRIBE_H

#include "base/buffer.h"
#include "det/shared_collectives.h"
#include "match/deadlock_cycle.h"

/* Appends " on NAME" for the number of a communicator, if that is known. */
typedef void rp_shared_put_comm(struct rp_buffer *text, uint64_t id);

/* Appends who waits for whom in the cycle, and then what every rank does. `bounds` are those of
 * rp_shared_cycle. */
void rp_shared_describe(struct rp_buffer *text, const struct rp_deadlock_cycle *cycle,
                        const uint64_t *bounds, rp_shared_put_comm *put_comm);

/* Appends the ranks that have not arrived at the collective: "ranks 1, 2". */
void rp_shared_put_missing(struct rp_buffer *text, const struct rp_shared_collective *collective);

#endif
