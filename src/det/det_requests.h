/* SPDX-License-Identifier: MIT */
/*
 * Requests: nonblocking receives, persistent requests, and when a request completes.
 */
#ifndef RP_DET_REQUESTS_H
#define RP_DET_REQUESTS_H

#include "det/det_matching.h"
#include "det/det_request_table.h"

/* As the functions of MPI. Where `rc` is a parameter, the real call was made and returned that. */
int rp_det_irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Request *request);
int rp_det_recv_init(int rc, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                     MPI_Comm comm, MPI_Request *request);
int rp_det_send_init(int rc, enum rp_det_mode mode, const void *buf, MPI_Count count,
                     MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request);
int rp_det_start(MPI_Request *request);
int rp_det_startall(int count, MPI_Request *requests);

/* MPI made a request whose moment of completion is not ours to say. */
int rp_det_foreign(int rc, MPI_Request *request);

/* Really completes a request of which it is certain that it completes. */
int rp_det_complete(MPI_Request *request, MPI_Status *status);

/* When it completes, or whether that is after the limit. */
enum rp_det_known rp_det_request_look(MPI_Request handle, uint64_t limit, uint64_t *when);

/* Sets the status of a cancelled receive that was never made. */
void rp_det_put_cancelled(MPI_Status *status);

#endif
