/* SPDX-License-Identifier: MIT */
/* The start and the end of MPI, where the mode is chosen. */
#ifndef RP_LIFE_H
#define RP_LIFE_H

#include <mpi.h>
#include <stdbool.h>

#include "next.h"

int rp_life_Init(const struct rp_next *next, int *argc, char ***argv);
int rp_life_Init_thread(const struct rp_next *next, int *argc, char ***argv, int required,
                        int *provided);
int rp_life_Finalize(const struct rp_next *next);
int rp_life_Abort(const struct rp_next *next, MPI_Comm comm, int code);

#if RP_HAS_SESSIONS
int rp_life_Session_init(const struct rp_next *next, MPI_Info info, MPI_Errhandler errhandler,
                         MPI_Session *session);
int rp_life_Session_finalize(const struct rp_next *next, MPI_Session *session);
#endif

/* MPI was initialised by other means than its functions. */
void rp_life_begun(void);
bool rp_life_is_begun(void);

#endif
