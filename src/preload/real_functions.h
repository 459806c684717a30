/* SPDX-License-Identifier: MIT */
/* How the generated tables of real functions are filled. */
#ifndef RP_REAL_FUNCTIONS_H
#define RP_REAL_FUNCTIONS_H

#include <stddef.h>

/* Puts the library's function of this name into the slot, if there is one. */
void rp_next_find(const char *name, void *slot, size_t size);

/* A function was called that the library does not have. */
void rp_next_missing(const char *name) __attribute__((noreturn));

#endif
