/* SPDX-License-Identifier: MIT */
/*
 * Programs that poll often yield when the answer is no. Where the answers are not the scheduler's
 * to change, as in a replay, and who really has to wait does so inside our calls, such a yield only
 * lets ranks that share a core take turns for nothing. It is a hint: nobody sees that it was not
 * taken.
 */
#ifndef RP_YIELD_H
#define RP_YIELD_H

#include <stdbool.h>

#include "base/visibility.h"

/* The calling thread's last poll was answered no, and it has not yielded since: its next yield is
 * left out. */
extern RP_HIDDEN __thread bool rp_needs_no_yield __attribute__((tls_model("initial-exec")));

#endif
