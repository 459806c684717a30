/* SPDX-License-Identifier: MIT */
/* Replay: the same jobs are spawned. */
#ifndef RP_REPLAY_SPAWN_H
#define RP_REPLAY_SPAWN_H

#include "entry/engine.h"

/* Spawns the job that the record has here. A spawn that it does not have, or that failed there and
 * does not now, leaves the record. */
int rp_replay_spawn(const struct rp_call *call, const struct rp_spawn *spawn);

#endif
