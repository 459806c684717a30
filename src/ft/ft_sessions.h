/* SPDX-License-Identifier: MIT */
/* The program's sessions: which are open. */
#ifndef RP_FT_SESSIONS_H
#define RP_FT_SESSIONS_H

#include <stdbool.h>

#include "ft/ft_mpi.h"
#include "ft_entries.h"

/* Opens a session, when there is MPI already. Returns an error of MPI. */
int rp_ft_session_open(MPI_Info info, MPI_Errhandler handler, MPI_Session *out);

/* Returns whether the program has open sessions, and whether some of them were opened in the loop.
 */
bool rp_ft_sessions_are_open(void);
bool rp_ft_sessions_has_of_loop(void);

/* Closes those that were opened in the loop. */
void rp_ft_sessions_forget_loop(void);

#endif
