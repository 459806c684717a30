/* SPDX-License-Identifier: MIT */
/* Recording: jobs that the program spawns. */
#ifndef RP_RECORD_SPAWN_H
#define RP_RECORD_SPAWN_H

#include "engine/session.h"
#include "entry/engine.h"

/* Makes the call, and notes in the record of `session` what became of it. */
int rp_record_spawn(const struct rp_call *call, const struct rp_spawn *spawn,
                    const struct rp_session *session);

#endif
