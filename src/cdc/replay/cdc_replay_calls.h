/* SPDX-License-Identifier: MIT */
/* What the calls of a replay by clocks share (cdc_replay.c says how it goes), and the calls for the
 * table of its engine (entry/engine.h has their parameters). */
#ifndef RP_CDC_REPLAY_CALLS_H
#define RP_CDC_REPLAY_CALLS_H

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "cdc/replay/cdc_replay_pool.h"
#include "cdc/replay/cdc_replay_rows.h"
#include "engine/rank.h"
#include "peers/peer_piggyback.h"
#include "log/logreader.h"
#include "log/replaystate.h"
#include "entry/engine.h"
#include "entry/thread_state.h"

/* A receive of the program, by its request. */
struct rp_receipt {
    MPI_Comm comm;
    int source, tag; /* that it asked for */
    int own_tag;     /* by which we send to it */
    int given_source, given_tag;
    bool is_given;
    struct rp_receipt *next,
        *previous; /* of those under way, in the order in which they were posted */
};

struct rp_cdc_replay {
    struct rp_log *log;
    char clocks_path[PATH_MAX];
    MPI_Comm own;
    int next_tag, largest_tag;
    struct rp_receipt under_way; /* both ends of the list */
    enum rp_certainty certain;   /* of what is waited for */
};

extern RP_HIDDEN struct rp_cdc_replay rp_cdc_replay;

static inline void rp_cdc_replay_call_begins(void)
{
    rp_thread_state.depth++;
}

static inline void rp_cdc_replay_call_ends(void)
{
    rp_thread_state.depth--;
}

/* Ending */

void rp_cdc_replay_diverge(const struct rp_call *call, const char *what) __attribute__((noreturn));
void rp_cdc_replay_refuse(const char *what) __attribute__((noreturn));

/* The others need not wait for what this rank sends. */
void rp_cdc_replay_stop_sending(void);

/* Waiting */

/* What the piggyback library does where MPI itself would wait. */
extern const struct rp_piggyback_hooks rp_cdc_replay_hooks;

/* One round of a wait that found nothing to do; at its end, rested. */
void rp_cdc_replay_rest(const char *function, const char *what);
void rp_cdc_replay_rested(void);

/* For engine/standstill.h: no rank can move any more; or the rank hangs in this call, as it did at
 * the end of its record. */
void rp_cdc_replay_stuck(void) __attribute__((noreturn));
void rp_cdc_replay_hangs_at_end(const char *function) __attribute__((noreturn));

/* Rows */

/* The next row that answers a call. Does not return at the end of the record. */
struct rp_answer rp_cdc_replay_next(const struct rp_call *call);

/* It was answered: `rank` is the sender of its message, or -1; pass_no: by no. */
void rp_cdc_replay_pass(const struct rp_call *call, int32_t rank);
void rp_cdc_replay_pass_no(const struct rp_call *call);

/* Waits for the message of the row, and takes it from the pool. *index is that of its
 * request. */
struct rp_pooled *rp_cdc_replay_hand_out(const struct rp_call *call, const struct rp_answer *answer,
                                         int32_t *index);

/* Receives and probes */

/* NULL: the request is no receive under way. */
struct rp_receipt *rp_cdc_replay_receipt(MPI_Request request);

/* Gives the message to the receive, which takes it over. */
void rp_cdc_replay_deliver(const struct rp_call *call, struct rp_pooled *message,
                           MPI_Request request);

/* Completes one request, which is certain to complete: a receive whose message was delivered, or
 * any other request. */
int rp_cdc_replay_complete_request(const struct rp_call *call, MPI_Request *request,
                                   MPI_Status *status);

int rp_cdc_replay_receive(const struct rp_call *call, struct rp_envelope *e,
                          const struct rp_buffer_args *b);
void rp_cdc_replay_receive_begin(const struct rp_call *call, struct rp_envelope *e);
void rp_cdc_replay_receive_end(const struct rp_call *call, struct rp_envelope *e, int rc);
void rp_cdc_replay_post_begin(const struct rp_call *call, struct rp_envelope *e,
                              const struct rp_buffer_args *b);
void rp_cdc_replay_post_end(const struct rp_call *call, struct rp_envelope *e, int rc,
                            MPI_Request *request);
void rp_cdc_replay_persistent_begin(const struct rp_call *call, struct rp_envelope *e,
                                    const struct rp_buffer_args *b);
void rp_cdc_replay_persistent_end(const struct rp_call *call, struct rp_envelope *e, int rc,
                                  MPI_Request *request);
int rp_cdc_replay_Start(const struct rp_call *call, MPI_Request *request);
int rp_cdc_replay_Startall(const struct rp_call *call, int count, MPI_Request *requests);
int rp_cdc_replay_Probe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                        MPI_Status *status);
int rp_cdc_replay_Iprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                         MPI_Status *status);
int rp_cdc_replay_Mprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                         MPI_Message *message, MPI_Status *status);
int rp_cdc_replay_Improbe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                          MPI_Message *message, MPI_Status *status);
void rp_cdc_replay_received_matched(const struct rp_call *call);

/* Completion, cancelling and freeing */

int rp_cdc_replay_complete(const struct rp_call *call, const struct rp_completion *c);
int rp_cdc_replay_Request_get_status(const struct rp_call *call, MPI_Request request, int *flag,
                                     MPI_Status *status);
int rp_cdc_replay_Parrived(const struct rp_call *call, MPI_Request request, int partition,
                           int *flag);
int rp_cdc_replay_Cancel(const struct rp_call *call, MPI_Request *request);
int rp_cdc_replay_Request_free(const struct rp_call *call, MPI_Request *request);

#endif
