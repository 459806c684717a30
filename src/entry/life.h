/* SPDX-License-Identifier: MIT */
/* The start and the end of MPI, where the mode is chosen, and what is refused. */
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

#if MPI_VERSION >= 4
int rp_life_Session_init(const struct rp_next *next, MPI_Info info, MPI_Errhandler errhandler,
                         MPI_Session *session);
int rp_life_Session_finalize(const struct rp_next *next, MPI_Session *session);
#endif

/* MPI was initialised by other means than its functions. */
void rp_life_begun(void);
bool rp_life_is_begun(void);

/* A function that cannot be replayed: ends the job by name, unless allowed or not under reprise. */
void rp_refuse(const char *function);

/* A function that is called by code which was not there when MPI was initialised, or that looked it
 * up itself. */
void rp_refuse_unforeseen(const char *function);

/* A call that matters, by a thread that has no stream. */
void rp_refuse_thread(const char *function);

/* Ends this process, all of the job, with one of our own exit statuses. The reason must have been
 * said. */
void rp_end_job(int exit_status) __attribute__((noreturn));

#endif
