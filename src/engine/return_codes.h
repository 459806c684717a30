/* SPDX-License-Identifier: MIT */
/* What the return code of a real call says about its outcome. The same for recording and
 * replaying. */
#ifndef RP_RETURN_CODES_H
#define RP_RETURN_CODES_H

#include <mpi.h>
#include <stdbool.h>

#include "preload/requests.h"

int rp_return_code_class(int rc);

/* The call matched a message: it succeeded, or truncated one. */
static inline bool rp_return_code_matched(int rc)
{
    return rc == MPI_SUCCESS || rp_return_code_class(rc) == MPI_ERR_TRUNCATE;
}

/* A call on several requests completed some: it succeeded, or has the errors in its statuses. */
static inline bool rp_return_code_some(int rc)
{
    return rc == MPI_SUCCESS || rp_return_code_class(rc) == MPI_ERR_IN_STATUS;
}

/*
 * Around polls of our own. In MPICH, a poll reports the error of a request to the error handler of
 * MPI_COMM_WORLD. That is the program's handler, which must not see our polls.
 */
void rp_quiet_begin(void);
void rp_quiet_end(void);

/* Nothing in the array can complete: what a completion call answers is decided by its arguments,
 * and is no event. */
bool rp_return_code_all_null(int count, const MPI_Request *requests);

bool rp_return_code_was_cancelled(const MPI_Status *status);

/* The request of this entry completed as cancelled. */
static inline bool rp_return_code_cancelled(const struct rp_request *entry,
                                            const MPI_Status *status)
{
    return entry->flags & (RP_REQUEST_CANCELLING | RP_REQUEST_OTHER) &&
           rp_return_code_was_cancelled(status);
}

#endif
