/* SPDX-License-Identifier: MIT */
/* Waiting: for messages, for others to receive, for collectives, or for clocks. */
#ifndef RP_DET_WAIT_H
#define RP_DET_WAIT_H

#include "det/det_matching.h"

/* Waits until `ready(data, false)` is true. In between, calls `ready(data, true)`, which must have
 * no effect. `wait` says what the rank waits for; it must stay valid until this returns. */
void rp_det_wait(bool (*ready)(void *data, bool only_whether), void *data,
                 const struct rp_det_wait *wait);

/* Before this rank waits inside MPI, or having ended: if no rank runs, looks whether one of them
 * waits for ever. Not between hosts, where what is known of others may be of before. */
void rp_det_look_for_deadlock(void);

#endif
