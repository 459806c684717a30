/* SPDX-License-Identifier: MIT */
/* The calls of MPI while recording, for the table of its engine (entry/engine.h has their
 * parameters). */
#ifndef RP_RECORD_CALLS_H
#define RP_RECORD_CALLS_H

#include "engine/record_events.h"
#include "engine/record_requests.h"
#include "entry/engine.h"
#include "entry/thread_state.h"

static inline void rp_record_begin(const struct rp_call *call)
{
    rp_thread_state.depth++;
    if (__builtin_expect(rp_thread_state.always & RP_SLOW_FREED, 0))
        rp_record_poll_freed(rp_record_site(call));
}

static inline void rp_record_end(void)
{
    rp_thread_state.depth--;
}

/*
 * Usual calls (rp_fast_*): nothing speaks against them, their site is known, and the ring has room.
 * They need no depth, since no other entry is called from inside them. If the result of the real
 * call turns out to be unusual, it is recorded in the same way as by the other operations.
 */

/* Whether such a call can push up to `events` events at once. */
static inline bool rp_record_is_usual(const struct rp_origin *origin, uintptr_t return_address,
                                      uintptr_t stack, uint64_t events, uint32_t *site)
{
    return __builtin_expect(rp_record_is_ready(events), 1) &&
           __builtin_expect(rp_site_known(&rp_recorder.sites, origin->function, return_address,
                                          stack, site),
                            1);
}

/* A call failed. */
void rp_record_error(const struct rp_call *call, uint32_t scope, int rc);

/* Receives and probes */

void rp_record_received_other(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                              const MPI_Status *status, int rc);
void rp_record_received(const char *function, uintptr_t return_address, uintptr_t stack,
                        MPI_Comm comm, const MPI_Status *status, int rc);
void rp_record_persistent_begin(const struct rp_call *call, struct rp_envelope *e,
                                const struct rp_buffer_args *b);
void rp_record_persistent_end(const struct rp_call *call, struct rp_envelope *e, int rc,
                              MPI_Request *request);
int rp_record_Start(const struct rp_call *call, MPI_Request *request);
int rp_record_Startall(const struct rp_call *call, int count, MPI_Request *requests);
int rp_record_Probe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                    MPI_Status *status);
int rp_record_Mprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                     MPI_Message *message, MPI_Status *status);
int rp_record_Iprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                     MPI_Status *status);
int rp_record_Improbe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Message *message, MPI_Status *status);

/* Completion, cancelling and freeing */

void rp_record_complete_start(void);
int rp_record_complete(const struct rp_call *call, const struct rp_completion *asked);
int rp_record_Request_get_status(const struct rp_call *call, MPI_Request request, int *flag,
                                 MPI_Status *status);
int rp_record_Parrived(const struct rp_call *call, MPI_Request request, int partition, int *flag);
int rp_record_Cancel(const struct rp_call *call, MPI_Request *request);
int rp_record_Request_free(const struct rp_call *call, MPI_Request *request);

#endif
