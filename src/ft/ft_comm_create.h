/* SPDX-License-Identifier: MIT */
/* Makes communicators. All members of `comm` call these functions. */
#ifndef RP_FT_COMM_CREATE_H
#define RP_FT_COMM_CREATE_H

#include <stdint.h>

#include "ft/ft_comms.h"

/* Returns a context that no member has used. */
int32_t rp_ft_comm_agree_context(struct rp_ft_comm *comm);

/* MPI_Comm_split. Returns NULL with color MPI_UNDEFINED. */
struct rp_ft_comm *rp_ft_comm_split(struct rp_ft_comm *comm, int color, int key);

#endif
