/* SPDX-License-Identifier: MIT */
/* What reprise does with an MPI function, by its name, as api/functions.table says. For code that
 * is compiled without mpi.h. */
#ifndef RP_REFUSED_CALLS_H
#define RP_REFUSED_CALLS_H

#include <stdbool.h>

/* Returns whether recording stops a program that calls the function. All these functions take a
 * name such as "MPI_Recv" or "PMPI_Recv". */
bool rp_refused_call_is_refused(const char *function);

/* Returns whether recording the data of a rank (--ranks) stops a program that calls the function,
 * but a recording without data does not. */
bool rp_refused_call_is_refused_alone(const char *function);

/* Returns whether the function makes a window that `record --ranks` can record. Also takes the
 * names of the Fortran bindings. */
bool rp_refused_call_makes_window(const char *function);

/* Returns whether the function of C makes a window of memory that all its members share. */
bool rp_refused_call_shares_window(const char *function);

#endif
