/* SPDX-License-Identifier: MIT */
/* Calls that an error handler left without returning. */
#ifndef RP_ESCAPED_CALL_H
#define RP_ESCAPED_CALL_H

#include <stdbool.h>

#include "base/visibility.h"

/* Error handlers of the program exist. */
RP_HIDDEN void rp_escaped_call_watch(void);

/* For a thread that is inside a call, at its next one, `name`: whether the former was left by
 * longjmp or an exception, so that the thread is inside of nothing any more. A recording is ended
 * by name then: what the call had found is not known. */
RP_HIDDEN bool rp_call_escaped(const char *name);

#endif
