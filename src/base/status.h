/* SPDX-License-Identifier: MIT */
/* Status codes, and the text that goes with a failure. */
#ifndef RP_STATUS_H
#define RP_STATUS_H

#include <stdarg.h>
#include <stdbool.h>

enum rp_status {
    RP_OK = 0,
    RP_USAGE,       /* the caller asked for something impossible */
    RP_DIVERGED,    /* two runs that must be the same differ */
    RP_DAMAGED,     /* bytes that the format does not allow */
    RP_UNSUPPORTED, /* something that is not supported */
    RP_BUSY,        /* another process is still writing it */
    RP_SYSTEM,      /* a system call failed (its errno is in the text) */
    RP_MEMORY,      /* an allocation failed */
};

/* Why a call failed, in words for the user: what failed, on which object, where. */
struct rp_problem {
    char text[1024];
};

/* Sets the text, which is one line and escaped as base/text.h says. Returns `status`, so that a
 * failure is one statement. */
enum rp_status rp_fail(struct rp_problem *why, enum rp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the exit status (reprise.h) of the command for `status`. */
int rp_exit_status(enum rp_status status);

#endif
