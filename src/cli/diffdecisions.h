/* SPDX-License-Identifier: MIT */
/* Two deterministic runs, compared by the digests of what their ranks decided ('reprise det --check
 * -o DIR'). */
#ifndef RP_DIFFDECISIONS_H
#define RP_DIFFDECISIONS_H

#include <stdbool.h>

#include "base/status.h"

/* Whether the directory is one of a deterministic run without a record. */
bool rp_det_digest_are_kept(const char *directory);

/* Prints which ranks differ, on the standard output or into a file. */
enum rp_status rp_det_digest_diff(const char *one, const char *other, const char *output,
                                  bool *differ, struct rp_problem *why);

#endif
