/* SPDX-License-Identifier: MIT */
/* New processes, when no spare is left (--respawn). */
#ifndef RP_FT_RESPAWN_H
#define RP_FT_RESPAWN_H

#include <stdbool.h>

#include "ft/ft_mpi.h"

/* Returns how many the user allows. */
int rp_ft_respawn_limit(void);

/* Starts a process. All who live call it. Returns a communicator of them and the new process; ends
 * the job if there can be none. */
MPI_Comm rp_ft_respawn(MPI_Comm living);

/* In a process that begins: returns false if the launcher started it. Else it gets the environment
 * of those who did. */
bool rp_ft_respawn_environment(void);

/* Returns, in a new process, that communicator; MPI_COMM_NULL if the launcher started this one. */
MPI_Comm rp_ft_respawn_join(void);

#endif
