/* SPDX-License-Identifier: MIT */
/* MPI_Comm_spawn and MPI_Comm_spawn_multiple: the children get reprise and the name of their job.
 */
#ifndef RP_SPAWN_H
#define RP_SPAWN_H

#include <stdbool.h>

#include "engine/session.h"
#include "entry/engine.h"
#include "job/job_names.h"

/* Returns whether the calling process is the root of the spawn. If so, sets `job` to the name of
 * the job that it starts: in the order of the spawns of this process, also of several threads. */
bool rp_spawn_is_root(const struct rp_call *call, const struct rp_spawn *spawn,
                      const struct rp_session *session, char job[RP_JOB_NAME]);

/* Makes the real call as it is. */
int rp_spawn_plain(const struct rp_call *call, const struct rp_spawn *spawn);

/* Makes the real call, with reprise and `job` in the children, whose number it sets; 0 if the call
 * fails. `state` is the state file of a
 * replay, or NULL. Ends the job if children run without reprise. */
int rp_spawn_with(const struct rp_call *call, const struct rp_spawn *spawn,
                  const struct rp_session *session, const char *job, const char *state,
                  int *children);

/* Returns how many children there are. */
int rp_spawn_children(const struct rp_spawn *spawn);

#endif
