/* SPDX-License-Identifier: MIT */
/*
 * Leaves out useless calls of sched_yield. Programs that poll often yield when a poll completes
 * nothing. In a replay the record decides what polls return, and a rank that has to wait does so
 * inside our calls. There such a yield only makes ranks that share a core take turns, without use.
 * sched_yield is a hint: no program can see that it was left out.
 */
#ifndef RP_YIELD_H
#define RP_YIELD_H

#include <stdbool.h>

#include "base/visibility.h"

/* The calling thread's last poll completed nothing, and it has not yielded since: its next yield is
 * left out. */
extern RP_HIDDEN __thread bool rp_needs_no_yield __attribute__((tls_model("initial-exec")));

#endif
