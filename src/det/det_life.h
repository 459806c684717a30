/* SPDX-License-Identifier: MIT */
/* Start and end of a deterministic run: MPI_Init and its like, as the functions of MPI. */
#ifndef RP_DET_LIFE_H
#define RP_DET_LIFE_H

#include "det/det_state.h"

int rp_det_Init(const struct rp_next *next, int *argc, char ***argv);
int rp_det_Init_thread(const struct rp_next *next, int *argc, char ***argv, int required,
                       int *provided);
int rp_det_Finalize(const struct rp_next *next);
#if RP_HAS_SESSIONS
int rp_det_Session_init(const struct rp_next *next, MPI_Info info, MPI_Errhandler handler,
                        MPI_Session *session);
int rp_det_Session_finalize(const struct rp_next *next, MPI_Session *session);
#endif

#endif
