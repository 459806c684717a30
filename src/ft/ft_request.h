/* SPDX-License-Identifier: MIT */
/* Requests: a handle of the program is the address of one of these; MPI_REQUEST_NULL is MPI's. */
#ifndef RP_FT_REQUEST_H
#define RP_FT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/ft_mpi.h"
#include "ft/ft_envelope.h"

struct rp_ft_comm;
struct rp_ft_entry;
struct rp_ft_general;

enum rp_ft_request_kind { RP_FT_SEND, RP_FT_RECEIVE, RP_FT_COLLECTIVE, RP_FT_GENERAL };

struct rp_ft_request {
    enum rp_ft_request_kind kind;
    bool done, active, persistent;
    uint32_t send_flags;
    struct rp_ft_request *next, **back; /* among the posted */
    void *buffer;
    int count;
    MPI_Datatype type;
    bool owns_type; /* a copy: the program may free its own */
    struct rp_ft_comm *comm;
    int32_t context;
    int peer, tag;             /* source or destination in the communicator; may be wildcards */
    struct rp_ft_entry *entry; /* send: the log's, while it is being sent */
    MPI_Request real;          /* receive: its payload */
    MPI_Fint fortran; /* its number there, or 0; MPI's own requests have it in the same place
                         (ft_fortran.c) */
    MPI_Status status;
    struct rp_ft_envelope taken; /* receive: the message */
    void *bounce;                /* receive: where the payload comes if not into `buffer` */
    uint64_t wildcard;           /* number of the wildcard receive plus one, or 0 */
    int bound_rank;              /* replay: it takes this one message */
    uint64_t bound_seq;
    struct rp_ft_request *next_pending, *next_persistent;
    struct rp_ft_general *general; /* generalized: the functions of the program */
};

/* Returns a request that is neither active nor done. rp_ft_request_free frees it; Fortran's number
 * of it is forgotten. */
struct rp_ft_request *rp_ft_request_new(enum rp_ft_request_kind kind, struct rp_ft_comm *comm);
void rp_ft_request_free(struct rp_ft_request *request);

/* Sets what is called when a request that has a number in Fortran is freed. */
void rp_ft_request_on_free(void (*forget_number)(struct rp_ft_request *request));

/* Returns whether a wait for it would end. */
bool rp_ft_request_done(const struct rp_ft_request *request);

/* It stays when it is completed, until MPI_Request_free, which drops it. */
void rp_ft_request_make_persistent(struct rp_ft_request *request);
void rp_ft_request_drop_persistent(struct rp_ft_request *request);

/* The send of this entry has happened: its request, if one waits, is done. */
void rp_ft_entry_done(struct rp_ft_entry *entry);

/* No request is active any more: all ranks roll back. */
void rp_ft_requests_forget(void);

#endif
