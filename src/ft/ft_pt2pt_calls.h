/* SPDX-License-Identifier: MIT */
/* What MPI's functions of point-to-point communication have in common. */
#ifndef RP_FT_PT2PT_CALLS_H
#define RP_FT_PT2PT_CALLS_H

#include <stdbool.h>

#include "ft/ft_mpi.h"
#include "ft/ft_comms.h"
#include "ft/ft_request.h"

/* Checks the arguments of a call that sends, or `receives`. Returns an error of MPI. */
int rp_ft_check_arguments(const struct rp_ft_comm *comm, int count, MPI_Datatype type, int peer,
                          int tag, bool receives);

/* Returns a request to or from MPI_PROC_NULL, which is active and done. */
struct rp_ft_request *rp_ft_request_of_nobody(struct rp_ft_comm *comm, bool receives);

#endif
