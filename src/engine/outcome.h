/* SPDX-License-Identifier: MIT */
/* What the return code of a real call says about its outcome. The same for recording and replaying. */
#ifndef RP_OUTCOME_H
#define RP_OUTCOME_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/requests.h"

int rp_outcome_class(int rc);

/* The call matched a message: it succeeded, or truncated one. */
bool rp_outcome_matched(int rc);

/* A call on several requests completed some: it succeeded, or has the errors in its statuses. */
bool rp_outcome_some(int rc);

/* The request of this entry completed as cancelled. */
bool rp_outcome_cancelled(const struct rp_request *entry, const MPI_Status *status);

#endif
