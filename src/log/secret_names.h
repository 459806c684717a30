/* SPDX-License-Identifier: MIT */
/* Environment variables that are named like secrets are never recorded. Others may hold secrets,
 * too: records are private for that. */
#ifndef RP_SECRET_NAMES_H
#define RP_SECRET_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a variable of that name looks like a token, a password or a key. */
bool rp_secret_is_named(const char *name, size_t length);

#endif
