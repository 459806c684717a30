/* SPDX-License-Identifier: MIT */
/* The calls of MPI in a replay, for the table of its engine. entry/engine.h has their parameters.
 */
#ifndef RP_REPLAY_CALLS_H
#define RP_REPLAY_CALLS_H

#include "entry/engine.h"
#include "entry/thread_state.h"

static inline void rp_replay_call_begins(void)
{
    rp_thread_state.depth++;
}

static inline void rp_replay_call_ends(void)
{
    rp_thread_state.depth--;
}

/* Receives and probes */

void rp_replay_receive_start(void);
void rp_replay_receive_begin(const struct rp_call *call, struct rp_envelope *e);
void rp_replay_receive_end(const struct rp_call *call, struct rp_envelope *e, int rc);

int rp_replay_receive(const struct rp_call *call, struct rp_envelope *e,
                      const struct rp_buffer_args *b);
void rp_replay_post_begin(const struct rp_call *call, struct rp_envelope *e,
                          const struct rp_buffer_args *b);
void rp_replay_post_end(const struct rp_call *call, struct rp_envelope *e, int rc,
                        MPI_Request *request);
void rp_replay_persistent_begin(const struct rp_call *call, struct rp_envelope *e,
                                const struct rp_buffer_args *b);
void rp_replay_persistent_end(const struct rp_call *call, struct rp_envelope *e, int rc,
                              MPI_Request *request);
int rp_replay_Start(const struct rp_call *call, MPI_Request *request);
int rp_replay_Startall(const struct rp_call *call, int count, MPI_Request *requests);
int rp_replay_Probe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                    MPI_Status *status);
int rp_replay_Mprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                     MPI_Message *message, MPI_Status *status);
int rp_replay_Iprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                     MPI_Status *status);
int rp_replay_Improbe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Message *message, MPI_Status *status);

/* Completion, cancelling and freeing */

void rp_replay_complete_start(void);
int rp_replay_complete(const struct rp_call *call, const struct rp_completion *c);
int rp_replay_Request_get_status(const struct rp_call *call, MPI_Request request, int *flag,
                                 MPI_Status *status);
int rp_replay_Parrived(const struct rp_call *call, MPI_Request request, int partition, int *flag);
int rp_replay_Cancel(const struct rp_call *call, MPI_Request *request);
int rp_replay_Request_free(const struct rp_call *call, MPI_Request *request);

#endif
