/* SPDX-License-Identifier: MIT */
/*
 * MPI_Isendrecv, made of an MPI_Irecv and an MPI_Isend.
 *
 * The program's request is that of the receive. The send's is kept beside it, by handle, and goes
 * first: only when the send is complete is the receive shown to a call that may complete one
 * request of several. So the handle stays the receive's until all is done, and nothing is ever half
 * complete for the program. A call for all requests gets both at once.
 *
 * The functions take the arguments of MPI's, behind the table of those that stand behind us.
 */
#ifndef RP_PAIRS_H
#define RP_PAIRS_H

#include <mpi.h>
#include <stdbool.h>

#include "base/visibility.h"
#include "preload/completion.h"
#include "preload/real_functions.h"
#include "next.h"

#define RP_NOINLINE __attribute__((noinline))

/* How many pairs are pending. Other threads may begin one meanwhile, but no call can be about its
 * request yet. */
extern RP_HIDDEN unsigned rp_pairs_pending;
#define RP_NO_PAIRS __builtin_expect(__atomic_load_n(&rp_pairs_pending, __ATOMIC_RELAXED) == 0, 1)

/* pairs.c */

struct rp_pair {
    MPI_Request send; /* request_null: complete */
    int send_error;   /* of a complete one */
    void *copy;       /* what MPI_Isendrecv_replace sends */
    /* How many exchanges that receive from MPI_PROC_NULL have this handle: MPI may use one handle
     * for several receives that are complete. 0: a pair as above. */
    unsigned proc_nulls;
};

/* Returns the pair that a request stands for; NULL if it stands for none. */
struct rp_pair *rp_pair_find(MPI_Request handle);
/* The request of a pair is complete, with the result `rc` of its receive: forgets the pair. Puts
 * the status right and returns the result of the pair; `rc` if the handle is none of a pair. */
int rp_pair_completed(MPI_Request handle, MPI_Status *status, int rc);
/* The program freed the request: forgets the pair. */
void rp_pair_drop(MPI_Request handle);
/* Makes a status that of a receive from MPI_PROC_NULL. */
void rp_pair_set_proc_null(MPI_Status *status);

int rp_pair_begin(const struct rp_next *next, const void *sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                  MPI_Request *request);
int rp_pair_begin_replace(const struct rp_next *next, void *buf, MPI_Count count, MPI_Datatype type,
                          int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
                          MPI_Request *request);

/* pair_completion.c */

/* Returns whether one of the requests is that of a pair. `requests` may be NULL. */
bool rp_pair_is_among(int count, const MPI_Request *requests);

/* MPI_Wait, MPI_Test and their families, of requests among which there is a pair's. Returns what
 * MPI returns; a pair is complete when both of its parts are. */
int rp_pair_complete(const struct rp_next *next, const struct rp_completion *c);

/* pair_requests.c */

/* Tests the send of a pair. Returns whether it is complete; its error is then in the pair. */
bool rp_pair_test_send(const struct rp_next *next, struct rp_pair *pair);

int rp_pair_Request_get_status(const struct rp_next *next, MPI_Request request, int *flag,
                               MPI_Status *status);
int rp_pair_Request_free(const struct rp_next *next, MPI_Request *request);
int rp_pair_Cancel(const struct rp_next *next, MPI_Request *request);

#endif
