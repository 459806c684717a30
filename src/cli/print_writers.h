/* SPDX-License-Identifier: MIT */
/* Prints which rank wrote the bytes that one-sided reads returned. */
#ifndef RP_PRINT_WRITERS_H
#define RP_PRINT_WRITERS_H

#include <stdbool.h>

#include "base/status.h"
#include "log/manifest.h"

/* Prints to stdout the writers of each read that the access logs of the record in `directory` have,
 * as text or as JSON, and to stderr how many there are. `ranks`: the ranks whose reads to print,
 * such as "3,7-9"; NULL: all. Fails if an access log cannot be read. */
enum rp_status rp_print_writers(const char *directory, const struct rp_manifest *manifest,
                                const char *ranks, bool json, struct rp_problem *why);

#endif
