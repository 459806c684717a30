/* SPDX-License-Identifier: MIT */
/* The classes of api/functions.table, for those who have no mpi.h. */
#ifndef RP_REFUSED_CALLS_H
#define RP_REFUSED_CALLS_H

#include <stdbool.h>

/* Whether recording stops a program that calls this function. */
bool rp_refused_call_is_refused(const char *function);

/* Whether only recording the data of a rank (--ranks) stops a program that calls this function. */
bool rp_refused_call_is_refused_alone(const char *function);

/* Whether the function makes a window that `record --ranks` can record. Knows the names of C and of
 * the Fortran bindings. */
bool rp_refused_call_makes_window(const char *function);

#endif
