/* SPDX-License-Identifier: MIT */
/*
 * Wrappers: functions that do little but call MPI. If a program or library wraps MPI, the place
 * that calls MPI means nothing to its users. Wrappers are detected in a recording, to distinguish
 * their callers, and when a record is read (event/naming.h).
 */
#ifndef RP_WRAPPERS_H
#define RP_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>

/* A function with more bytes of code is a wrapper only by its name. */
enum { RP_WRAPPER_BYTES = 512 };

/* How many nested wrappers are looked through: those by size, and all. */
enum { RP_WRAPPERS_SMALL = 3, RP_WRAPPERS_DEEP = 8 };

/* Returns the patterns of names of wrappers, separated by commas: those that we know, and those of
 * REPRISE_WRAPPERS, which is read at the first call. */
const char *rp_wrappers_list(void);

/* Returns whether `symbol`, a name as in the symbol table, matches a pattern of `list`. `*` stands
 * for any characters. C++ names are compared without parameters and result type. */
bool rp_wrappers_name(const char *list, const char *symbol);

#endif
