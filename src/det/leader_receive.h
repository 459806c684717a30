/* SPDX-License-Identifier: MIT */
/* What the leader receives from other hosts. */
#ifndef RP_LEADER_RECEIVE_H
#define RP_LEADER_RECEIVE_H

#include "det/leader_state.h"

/* Reads the bytes that a peer has sent, and handles the whole messages in them. A message that
 * makes no sense ends the run. */
void rp_leader_listen(struct rp_leader_peer *peer);

#endif
