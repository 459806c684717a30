/* SPDX-License-Identifier: MIT */
/*
 * Functions that do little but call MPI for others: programs and libraries wrap MPI, and then the
 * place that calls it says nothing. Whether a function is one is asked when a program is recorded
 * (whose callers must be told apart?) and when a record is read (event/naming.h).
 */
#ifndef RP_WRAPPERS_H
#define RP_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>

/* A function of more bytes of code than this is a wrapper only by its name. */
enum { RP_WRAPPER_BYTES = 512 };

/* How many wrappers deep callers are looked for: by size, and at all. */
enum { RP_WRAPPERS_SMALL = 3, RP_WRAPPERS_DEEP = 8 };

/* The patterns of names that are wrappers by themselves, separated by commas: those we know, and
 * those that the user names (REPRISE_WRAPPERS) before the first call. */
const char *rp_wrappers_list(void);

/* Whether a name, as the symbol table has it, is one of the list. `*` stands for any characters;
 * C++ names are compared without their parameters and the type that they return. */
bool rp_wrappers_name(const char *list, const char *symbol);

#endif
