/* SPDX-License-Identifier: MIT */
/* What is known of requests, for the calls that start, complete and end them. */
#ifndef RP_PARTIAL_REQUESTS_H
#define RP_PARTIAL_REQUESTS_H

#include "partial/partial.h"

struct rp_request {
    MPI_Request request;
    struct rp_areas areas;
    bool persistent, active;
    struct rp_raiser raiser; /* feeding */
    struct {
        uint64_t number; /* among all of these, + 1; 0: it is none */
        MPI_Win win;
        int target;
    } read; /* a one-sided read */
    struct rp_request *next;
};

/* Returns NULL if the request is not known. The result is valid until the request is forgotten. */
struct rp_request *rp_request_find(MPI_Request request);

/* The request is at its end. Its areas are freed, unless they were taken out before. */
void rp_request_forget(MPI_Request request);

/* A persistent request is complete, and waits for its next start. */
void rp_request_deactivate(struct rp_request *r);

/* Feeding: the request is at its end. MPI ends the one that stands for it, and the program's handle
 * becomes MPI_REQUEST_NULL. */
void rp_request_end(MPI_Request *request);

/* Whose error handler MPI calls if the request of this index fails (-1: it is not known which).
 * Open MPI calls the handler of what the request is of, MPICH always that of MPI_COMM_WORLD. To be
 * called before the request is at its end. */
struct rp_raiser rp_request_raiser(int count, const MPI_Request *requests, int index);

/* Feeding: ends the entry, and calls the error handler unless the error is MPI_SUCCESS. */
void rp_request_finish(int error, struct rp_raiser raiser);

#endif
