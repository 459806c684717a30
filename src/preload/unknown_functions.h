/* SPDX-License-Identifier: MIT */
/*
 * MPI functions that this build does not know: those that the MPI at run time has, but the mpi.h of
 * the build had not. We have no entry point for them, so they would pass us by. Instead, every
 * place from which a loaded file calls such a function is made to lead to a function that refuses
 * it.
 */
#ifndef RP_UNKNOWN_FUNCTIONS_H
#define RP_UNKNOWN_FUNCTIONS_H

#include <stddef.h>

/* The functions for which the library has an entry point, or needs none; sorted. Generated. */
extern const char *const rp_known_functions[];
extern const size_t rp_known_function_count;

/* Redirects calls of unknown functions, but for those that --allow names, in all files that are
 * loaded now. `refuse` gets the name of the function when it is called; it must not return. */
void rp_unknown_functions_refuse(void (*refuse)(const char *function));

#endif
