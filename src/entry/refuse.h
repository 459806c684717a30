/* SPDX-License-Identifier: MIT */
/* Calls that are stopped at by name, and the end of the job. */
#ifndef RP_REFUSE_H
#define RP_REFUSE_H

#include <stdbool.h>

/* A function that cannot be replayed: ends the job by name, unless allowed or not under reprise. */
void rp_refuse(const char *function);

/* Returns whether the user lets this function through unrecorded (--allow). */
bool rp_is_allowed(const char *function);

/* A function that is called by code which was not there when MPI was initialised, or that looked it
 * up itself. */
void rp_refuse_unforeseen(const char *function);

/* A function that this build has no entry point for (preload/unknown_functions.h). */
void rp_refuse_unknown(const char *function) __attribute__((noreturn));

/* A call that matters, by a thread that has no stream. */
void rp_refuse_thread(const char *function);

/* Ends this process, all of the job, with one of our own exit statuses. The reason must have been
 * said. */
void rp_end_job(int exit_status) __attribute__((noreturn));

#endif
