/* SPDX-License-Identifier: MIT */
/*
 * Quiet waits: the real blocking function is called only when it can return, and until then we
 * poll, yield and sleep. So a replay does not spin on a busy machine, and a stalled one can say
 * what it waits for.
 */
#ifndef RP_REPLAY_WAIT_H
#define RP_REPLAY_WAIT_H

#include <stdbool.h>

#include "entry/engine.h"

/* Until such a message can be received. */
void rp_await_message(const struct rp_call *call, int source, int tag, MPI_Comm comm);

#ifdef OPEN_MPI
/* Until this receive of `e` is complete. */
void rp_await_receive(const struct rp_call *call, MPI_Request request, const struct rp_envelope *e);
#endif

/* Until the request, or its placeholder, is complete. */
void rp_await_request(const struct rp_call *call, MPI_Request request);

/* A request of MPI-IO or of the program's own kind may be worked on only in the calls that complete
 * it: asking after it would never end. */
bool rp_makes_its_own_progress(MPI_Request request);

/* A receive that never completed in the record. */
bool rp_is_ghost(MPI_Request request);

/* Before a wait for such a request: the record ends in this call. */
void rp_stop_at_ghost(const struct rp_call *call, MPI_Request request);

/* A recorded 'no'; lets the MPI library work now and then. */
void rp_answer_no(void);

#endif
