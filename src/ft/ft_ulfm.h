/* SPDX-License-Identifier: MIT */
/* ULFM as this library uses it: all failures that MPI knows of. */
#ifndef RP_FT_ULFM_H
#define RP_FT_ULFM_H

#include <stdbool.h>

#include "ft/ft_mpi.h"
#include "recovery/ulfm.h"

/* Returns whether MPI knows that this rank of `comm` has failed. */
bool rp_ft_has_failed(MPI_Comm comm, int process);

#endif
