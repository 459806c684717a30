/* SPDX-License-Identifier: MIT */
#include "engine/record_spawn.h"

#include "base/diagnostics.h"
#include "engine/spawn.h"
#include "entry/refuse.h"
#include "log/jobs.h"
#include "reprise.h"

int rp_record_spawn(const struct rp_call *call, const struct rp_spawn *spawn,
                    const struct rp_session *session)
{
    struct rp_problem why;
    char job[RP_JOB_NAME];

    if (!rp_spawn_is_root(call, spawn, session, job))
        return rp_spawn_plain(call, spawn);
    int children, rc = rp_spawn_with(call, spawn, session, job, NULL, &children);
    if (rp_job_note(session->record, job, (uint32_t)children, &why) != RP_OK) {
        rp_error("%s: %s", call->function, why.text);
        rp_end_job(REPRISE_EXIT_DAMAGED);
    }
    return rc;
}
