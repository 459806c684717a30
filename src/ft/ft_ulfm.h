/* SPDX-License-Identifier: MIT */
/* User-Level Failure Mitigation: Open MPI's MPIX functions, found when the library runs. */
#ifndef RP_FT_ULFM_H
#define RP_FT_ULFM_H

#include <stdbool.h>

#include "ft/ft_mpi.h"

/* Finds the functions. Returns whether this MPI has them; the others need that. */
bool rp_ulfm_find(void);

/* MPIX_Comm_revoke, MPIX_Comm_shrink and MPIX_Comm_agree; they return what those return. */
int rp_ulfm_revoke(MPI_Comm comm);
int rp_ulfm_shrink(MPI_Comm comm, MPI_Comm *out);
int rp_ulfm_agree(MPI_Comm comm, int *flag);

/* Returns whether MPI knows that this rank of `comm` has failed. */
bool rp_ulfm_has_failed(MPI_Comm comm, int process);

#endif
