/* SPDX-License-Identifier: MIT */
/* What the leader sends to other hosts. */
#ifndef RP_LEADER_SEND_H
#define RP_LEADER_SEND_H

#include <stdbool.h>

/* Sends what is in the outbox, and frames to the hosts that want one and have something new to
 * learn. */
void rp_leader_send_all(void);

/* Whether another host wants a frame. */
bool rp_leader_is_wanted(void);

#endif
