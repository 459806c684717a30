/* SPDX-License-Identifier: MIT */
/* Status codes, and the text that goes with a failure. */
#ifndef RP_STATUS_H
#define RP_STATUS_H

#include <stdarg.h>
#include <stdbool.h>

enum rp_status {
    RP_OK = 0,
    RP_USAGE,       /* the caller asked for something that cannot be */
    RP_DIVERGED,    /* a replay left its record */
    RP_DAMAGED,     /* bytes that are not what the format says */
    RP_UNSUPPORTED, /* refused by name */
    RP_BUSY,        /* somebody is still writing it */
    RP_SYSTEM,      /* the operating system said no (errno is in the text) */
    RP_MEMORY,      /* an allocation failed */
};

/* Why a call failed, for a person: what, which object, where. */
struct rp_problem {
    char text[1024];
};

/* Sets the text, one line that can be shown (base/text.h), and returns `status`, so that a failure
 * is one line. */
enum rp_status rp_fail(struct rp_problem *why, enum rp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The exit status (reprise.h) that stands for a status. */
int rp_exit_status(enum rp_status status);

#endif
