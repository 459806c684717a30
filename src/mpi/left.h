/* SPDX-License-Identifier: MIT */
/* Calls that an error handler left without returning. */
#ifndef RP_LEFT_H
#define RP_LEFT_H

#include <stdbool.h>

#include "base/hidden.h"

/* Error handlers of the program exist. */
RP_HIDDEN void rp_left_watch(void);

/* For a thread that is inside a call, at its next one, `name`: whether the former was left by
 * longjmp or an exception, so that the thread is inside of nothing any more. A recording is ended
 * by name then: what the call had found is not known. */
RP_HIDDEN bool rp_call_was_left(const char *name);

#endif
