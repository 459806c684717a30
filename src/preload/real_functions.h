/* SPDX-License-Identifier: MIT */
/* Filling of the generated tables of real functions. */
#ifndef RP_REAL_FUNCTIONS_H
#define RP_REAL_FUNCTIONS_H

#include <stddef.h>

/* Looks up the MPI library's function `name` and stores its address in `slot`, of `size` bytes.
 * Leaves the slot alone if there is none. */
void rp_next_find(const char *name, void *slot, size_t size);

/* Reports that the program called a function that the MPI library does not have, and ends the
 * process. */
void rp_next_missing(const char *name) __attribute__((noreturn));

#endif
