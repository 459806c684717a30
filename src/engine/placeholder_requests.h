/* SPDX-License-Identifier: MIT */
/*
 * Requests that stand for others in a replay. A *ghost* is a receive that never matched in the
 * record: it is really posted, but where no message can arrive (to oneself, on a communicator of
 * our own), so that it can be cancelled, freed and tested like any other. An *inner* request stands
 * for a persistent receive whose match changes at every start, or for a ghost once the rank runs on
 * freely.
 */
#ifndef RP_PLACEHOLDER_REQUESTS_H
#define RP_PLACEHOLDER_REQUESTS_H

#include <stdbool.h>

#include "match/matcher.h"
#include "entry/engine.h"
#include "preload/requests.h"

void rp_placeholder_open(void);
void rp_placeholder_close(void);

/* Turns the envelope into that of a ghost. */
void rp_placeholder_make_ghost(struct rp_envelope *e);

/* What a receive asked for, kept to post it (again) later. Freed with rp_placeholder_forget. */
void *rp_placeholder_keep(const struct rp_envelope *e, const struct rp_buffer_args *b);
void rp_placeholder_forget(struct rp_request *entry);

/* The receive that asked this was wrong, and failed as a ghost: lets it fail on the program's
 * communicator too, for its error handler. */
void rp_placeholder_fail(void *note);

/* Posts an inner request for the persistent receive of this entry: named by its match, or a ghost
 * if `match` is NULL. */
int rp_placeholder_start(struct rp_request *entry, const struct rp_match *match);

/* The request that the real functions must see. */
MPI_Request rp_placeholder_real(MPI_Request request);

/* The same for an array: `requests` itself if none has a placeholder, else a copy in `room` (of
 * `count`). */
MPI_Request *rp_placeholder_enter(int count, MPI_Request *requests, MPI_Request *room);

/* After the real call: the program's handles become what they would be without placeholders. */
void rp_placeholder_leave(int count, MPI_Request *requests, const MPI_Request *real,
                          const MPI_Request *before);

/* The rank runs on freely: every ghost is posted as the program asked, in post order. */
void rp_placeholder_release(void);

/* Takes messages off senders that would wait for ever. */
void rp_placeholder_sink(void);

#endif
