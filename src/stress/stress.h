/* SPDX-License-Identifier: MIT */
/*
 * The functions that the generated entry points of libreprise-stress.so call. They do only what MPI
 * itself might do on another machine or under another load. A send is late. The program sees a
 * message later than it arrived, also later than others. Of several messages from different senders
 * that have arrived, a receive takes another one. Messages of one sender stay in order.
 */
#ifndef RP_STRESS_H
#define RP_STRESS_H

#include <mpi.h>
#include <stdbool.h>

#include "preload/completion_call.h"
#include "preload/real_functions.h"
#include "next.h"
#include "stress/chance.h"

#define RP_TAIL

/* Returns the decisions of this thread, which the first call makes; NULL if nothing is to be
 * disturbed. */
struct rp_chance *rp_stress_chance(void);

/* Returns whether we may probe for a message before the receive: not if another thread could take
 * the message in between. */
bool rp_stress_may_probe(void);

uint64_t rp_stress_now(void); /* nanoseconds */
void rp_stress_pause(uint64_t nanoseconds);

/* Delays a call that sends; called before it. */
void rp_stress_before_send(void);

/* stress_receives.c. Both may set the *source and *tag of a receive from MPI_ANY_SOURCE to those of
 * a message that is here. rp_stress_before_take is for blocking calls, and may wait for a message;
 * rp_stress_before_post is for receives that are posted. */

void rp_stress_before_take(int *source, int *tag, MPI_Comm comm);
void rp_stress_before_post(int *source, int *tag, MPI_Comm comm);
void rp_stress_found(void); /* a probe found a message for the program: until it receives one,
                               probes that do not wait say yes */
int rp_stress_iprobe(int (*real)(int, int, MPI_Comm, int *, MPI_Status *), const char *name,
                     int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int rp_stress_improbe(int (*real)(int, int, MPI_Comm, int *, MPI_Message *, MPI_Status *),
                      const char *name, int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Message *message, MPI_Status *status);

/* stress_requests.c */

/* MPI_Wait, MPI_Test and their families: makes the call, disturbed. Returns what MPI returns. */
int rp_stress_complete(const struct rp_next *next, const struct rp_completion *c);
/* MPI_Request_get_status: makes the call by `real`. What it shows as complete, no test denies. */
int rp_stress_request_get_status(int (*real)(MPI_Request, int *, MPI_Status *), MPI_Request request,
                                 int *flag, MPI_Status *status);

/* From now on, no request is asked whether it is complete: MPICH forgets the request of a flush of
 * a buffer once it has said so. */
void rp_stress_asks_no_more(void);

/* stress_waits.c: what the rank waits for, published in the file REPRISE_STATE for whoever finds
 * that the run hangs. */

void rp_stress_waits_to_send(const char *function, int dest, int tag, MPI_Comm comm);
void rp_stress_waits_for_message(const char *function, int source, int tag, MPI_Comm comm);
void rp_stress_waits_for_requests(const char *function, int count);
void rp_stress_waits_for_all(const char *function, MPI_Comm comm);
void rp_stress_polled(const char *function, bool said_no);
void rp_stress_goes_on(void);
void rp_stress_finishes(void); /* MPI_Finalize: whatever is called inside */

#endif
