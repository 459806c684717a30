/* SPDX-License-Identifier: MIT */
/* Generalized requests: the program completes them itself, and has functions that MPI calls. */
#ifndef RP_FT_GENERAL_H
#define RP_FT_GENERAL_H

#include <stdbool.h>

#include "ft/ft_mpi.h"
#include "ft/ft_request.h"

/* A complete request ends for the program, whose functions are called. Their error is in its
 * status. */
void rp_ft_general_end(struct rp_ft_request *request);

/* These call the program's functions. They return an error of MPI, for which the error handler was
 * called. A request that is freed before it is complete stays until MPI_Grequest_complete. */
int rp_ft_general_get_status(const struct rp_ft_request *request, MPI_Status *status);
int rp_ft_general_cancel(const struct rp_ft_request *request);
int rp_ft_general_free(struct rp_ft_request *request);

/* A call that does not wait (a test) was answered yes before the failure. Ends the job if that is a
 * request which nobody can complete meanwhile. */
void rp_ft_general_must_be_done(const struct rp_ft_request *request);

#endif
