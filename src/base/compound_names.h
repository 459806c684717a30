/* SPDX-License-Identifier: MIT */
#ifndef RP_COMPOUND_NAMES_H
#define RP_COMPOUND_NAMES_H

#include <stdbool.h>

/* Whether libreprise-compound.so makes a function of others. `name`: as files import it, also of a
 * Fortran binding. */
bool rp_is_compound(const char *name);

#endif
