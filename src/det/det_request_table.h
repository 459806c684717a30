/* SPDX-License-Identifier: MIT */
/*
 * The requests of the program, by handle: those of which src/det knows more than MPI does.
 */
#ifndef RP_DET_REQUEST_TABLE_H
#define RP_DET_REQUEST_TABLE_H

#include "det/det_posted.h"
#include "det/shared_collectives.h"

enum rp_det_mode { RP_DET_STANDARD, RP_DET_SYNCHRONOUS, RP_DET_BUFFERED };

enum rp_det_request_kind {
    RP_DET_RECEIVE,
    RP_DET_SEND,       /* synchronous */
    RP_DET_COLLECTIVE, /* nonblocking, or persistent */
    RP_DET_FOREIGN,    /* of MPI itself, whose moment of completion is not ours to say */
};

struct rp_det_request {
    enum rp_det_request_kind kind;
    bool is_persistent, is_active;
    struct rp_det_receive receive;
    struct rp_shared_message *message; /* of a synchronous send */
    uint32_t dest;
    struct rp_shared_collective *collective; /* NULL: this rank is its only one */
    MPI_Comm *made;                          /* by a nonblocking call */
    uint64_t made_id;
    uint64_t number, starts; /* of a persistent collective; how often it was started */
    bool has_placeholder;    /* the handle is a placeholder: the real request is receive.real */
    bool is_started;         /* persistent: the real one is the handle */
    bool is_cancelled;
    /* a persistent one's arguments */
    enum rp_det_mode mode;
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
};

void rp_det_requests_start(void);

/* Finds out how MPI makes handles of requests that are complete at once. */
void rp_det_requests_learn(void);

/* A new one, active, which the caller frees. */
struct rp_det_request *rp_det_request_new(enum rp_det_request_kind kind);

/* Enters it under its handle. */
void rp_det_request_enter(MPI_Request handle, struct rp_det_request *own);

/* NULL: MPI knows all of it. Ends the job if the request was completed or freed. */
struct rp_det_request *rp_det_request_find(MPI_Request handle);

/* MPI has made a request that is not entered here; its handle may have been in use before. Returns
 * rc. */
int rp_det_new_handle(int rc, const MPI_Request *request);

/* The program's handle is over: completed, or freed in the call that the program is in. */
void rp_det_request_completed(MPI_Request handle);
void rp_det_request_freed(MPI_Request handle);

/* A handle of its own for a receive that is made later; and it is free again. That of a receive
 * that was freed is not used again soon. */
MPI_Request rp_det_placeholder(void);
void rp_det_placeholder_return(MPI_Request handle);
void rp_det_placeholder_retire(MPI_Request handle);

#endif
