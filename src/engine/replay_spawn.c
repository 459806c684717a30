/* SPDX-License-Identifier: MIT */
/*
 * The root says in the state of the replay that the children's processes are about to come, so that
 * nobody takes them for ranks that nobody will ever spawn (engine/standstill.c).
 */
#include "engine/replay_spawn.h"

#include "engine/rank.h"
#include "engine/replay_cursor.h"
#include "engine/replay_divergence.h"
#include "engine/replay_end.h"
#include "engine/replay_follow.h"
#include "engine/spawn.h"
#include "entry/threads.h"
#include "log/jobs.h"

static int spawn_job(const struct rp_call *call, const struct rp_spawn *spawn, const char *job)
{
    rp_state_set_job(rp_rank.state, job, RP_RANK_ABSENT);
    int children,
        rc = rp_spawn_with(call, spawn, &rp_rank.session, job, rp_rank.state_path, &children);
    if (rc != MPI_SUCCESS)
        rp_diverge(call, NULL, NULL, "a spawn failed that did not fail in the record");
    return rc;
}

static int spawn_nothing(const struct rp_call *call, const struct rp_spawn *spawn)
{
    int rc = rp_spawn_plain(call, spawn);

    if (rc == MPI_SUCCESS)
        rp_diverge(call, NULL, NULL, "a spawn did not fail that failed in the record");
    return rc;
}

int rp_replay_spawn(const struct rp_call *call, const struct rp_spawn *spawn)
{
    char job[RP_JOB_NAME];

    if (!rp_spawn_is_root(call, spawn, &rp_rank.session, job))
        return rp_spawn_plain(call, spawn);
    if (rp_state_job_size(rp_rank.state, job) > 0)
        return spawn_job(call, spawn, job);
    if (rp_job_failed(rp_rank.session.record, job))
        return spawn_nothing(call, spawn);
    rp_threads_enter();
    if (!rp_cursor_front() && !rp_cursor_ends_in_finalize())
        rp_replay_end_of_record(call);
    else if (!rp_replay_is_free())
        rp_diverge(call, rp_cursor_front(), NULL, "a spawn that the record does not have");
    rp_threads_leave();
    return rp_spawn_plain(call, spawn); /* on behind the end of the record */
}
