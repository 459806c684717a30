/* SPDX-License-Identifier: MIT */
/* Which persistent requests are active: MPI does not say it of one that is complete. Only where the
 * MPI has functions that must know (request_status.h). */
#ifndef RP_PERSISTENT_H
#define RP_PERSISTENT_H

#include <mpi.h>
#include <stdbool.h>

#include "base/visibility.h"
#include "preload/completion.h"

extern RP_HIDDEN unsigned rp_persistents_known;
#define RP_NO_PERSISTENTS                                                                          \
    __builtin_expect(__atomic_load_n(&rp_persistents_known, __ATOMIC_RELAXED) == 0, 1)

/* Whether they must be known. */
bool rp_persistent_is_wanted(void);

/* A call made one, with the result `rc`, which it returns. */
int rp_persistent_made(int rc, const MPI_Request *request);

void rp_persistent_started(int count, const MPI_Request *requests);

/* A completion call has returned `rc`, which it returns. */
int rp_persistent_completed(const struct rp_completion *c, int rc);

void rp_persistent_freed(MPI_Request request);

/* Whether a request is active: neither null nor an inactive persistent one. */
bool rp_request_is_active(MPI_Request request);

#endif
