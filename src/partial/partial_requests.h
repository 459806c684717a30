/* SPDX-License-Identifier: MIT */
/* Requests under way. */
#ifndef RP_PARTIAL_REQUESTS_H
#define RP_PARTIAL_REQUESTS_H

#include "partial/partial_areas.h"

/* Whose error handler is called if a request fails. */
struct rp_raiser {
    enum { RP_OF_WORLD, RP_OF_COMM, RP_OF_WIN, RP_OF_FILE } kind;
    MPI_Comm comm;
    MPI_Win win;
    MPI_File file;
};

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

/* Forgets a request that is at its end. Frees its areas, unless they were taken out before. */
void rp_request_forget(MPI_Request request);

/* Notes that a persistent request is complete, and inactive until its next start. */
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

/* Adds a request under way, and takes its areas over. Recording, only requests with areas are
 * added; feeding, all are. */
void rp_partial_requests_add(MPI_Request request, struct rp_areas *areas, bool persistent);
/* Recording: a request that may be complete already, and share its handle with others: then its
 * content is recorded at once. */
void rp_partial_record_fresh(MPI_Request request, struct rp_areas *areas);
/* The entry `got`: a one-sided read is complete. */
extern RP_HIDDEN const struct rp_function rp_f_got;

/* The request, if it is under way, is of a read from this target of the window (both sides). */
void rp_partial_requests_read(MPI_Request request, MPI_Win win, int target);
/* A call has completed such reads. Recording: entries `got` record them, numbered from `first` on.
 * Feeding: fills the read of this number; returns false if there is none. Then the request has no
 * reads any more. */
void rp_partial_requests_reads_done(MPI_Win win, int target, uint64_t first);
bool rp_partial_requests_take_read(uint64_t number);
bool rp_partial_requests_are_reading(MPI_Win win, int target);
void rp_partial_feed_fresh(MPI_Request *request, struct rp_areas *areas, struct rp_raiser raiser);
MPI_Request rp_partial_feed_request(struct rp_areas *areas, bool persistent,
                                    struct rp_raiser raiser);

#endif
