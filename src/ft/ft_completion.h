/* SPDX-License-Identifier: MIT */
/* Completion of requests: MPI_Wait, MPI_Test and their families. */
#ifndef RP_FT_COMPLETION_H
#define RP_FT_COMPLETION_H

#include "ft/ft_mpi.h"
#include "preload/completion.h"

/* Ends a request for the program: fills in the status, and makes the handle MPI_REQUEST_NULL unless
 * the request is persistent. Returns the error in its status. */
int rp_ft_request_complete(MPI_Request *handle, MPI_Status *status);

/* MPI_Wait. */
int rp_ft_wait(MPI_Request *handle, MPI_Status *status);

/* MPI_Wait, MPI_Test and their families. Returns an error of MPI, for which the error handler was
 * called. */
int rp_ft_complete(const struct rp_completion *c);

#endif
