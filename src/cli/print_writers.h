/* SPDX-License-Identifier: MIT */
/* Which rank wrote what the one-sided reads of ranks got: lines on stdout, and a count of them on
 * stderr. */
#ifndef RP_PRINT_WRITERS_H
#define RP_PRINT_WRITERS_H

#include <stdbool.h>

#include "base/status.h"
#include "log/manifest.h"

/* `ranks`: such as 3,7-9, or NULL: all. */
enum rp_status rp_print_writers(const char *directory, const struct rp_manifest *manifest,
                                const char *ranks, bool json, struct rp_problem *why);

#endif
