/* SPDX-License-Identifier: MIT */
/* What the entry points ask of the capture of outside values (interpose/capture.h), which sets it.
 */
#ifndef RP_CAPTURED_H
#define RP_CAPTURED_H

#include "entry/engine.h"

enum rp_capture {
    RP_CAPTURE_TIME = 1,
    RP_CAPTURE_RANDOM = 2,
    RP_CAPTURE_PID = 4,
    RP_CAPTURE_HOST = 8
};

/* The kinds of values that are captured ; 0: none. */
extern int rp_captured;

double rp_capture_Wtime(const struct rp_call *call);

#endif
