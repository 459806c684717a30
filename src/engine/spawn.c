/* SPDX-License-Identifier: MIT */
/*
 * A child makes a file (the mark) before it initialises MPI. MPI_Comm_spawn does not return before
 * all children have begun that. So the root need not wait to know whether reprise is in them.
 */
#include "engine/spawn.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "entry/entry.h"
#include "entry/refuse.h"
#include "entry/threads.h"
#include "peers/peer_reprise.h"
#include "preload/constants.h"
#include "reprise.h"

static unsigned long spawns; /* of this process as root; under the lock of threads */

bool rp_spawn_is_root(const struct rp_call *call, const struct rp_spawn *spawn,
                      const struct rp_session *session, char job[RP_JOB_NAME])
{
    int rank = -1;

    if (rp_pmpi.Comm_rank(spawn->comm, &rank) != MPI_SUCCESS || rank != spawn->root)
        return false;
    rp_turn_begin(call, false);
    unsigned long number = ++spawns;
    rp_turn_end(false);
    if (rp_job_of_spawn(session->name, number, job))
        return true;
    rp_error("%s: children of children, so deep that the name of their job is longer than %d "
             "characters",
             call->function, RP_JOB_NAME - 1);
    rp_end_job(REPRISE_EXIT_UNSUPPORTED);
}

int rp_spawn_plain(const struct rp_call *call, const struct rp_spawn *s)
{
    int rc;

    if (s->is_multiple)
        RP_INSIDE(rc, call->next->Comm_spawn_multiple(s->count, s->commands, s->argvs, s->maxprocs,
                                                      s->infos, s->root, s->comm, s->intercomm,
                                                      s->errcodes));
    else
        RP_INSIDE(rc,
                  call->next->Comm_spawn(s->commands[0], s->argvs[0], s->maxprocs[0], s->infos[0],
                                         s->root, s->comm, s->intercomm, s->errcodes));
    return rc;
}

int rp_spawn_children(const struct rp_spawn *spawn)
{
    int size = 0;

    rp_pmpi.Comm_remote_size(*spawn->intercomm, &size);
    return size;
}

__attribute__((noreturn)) static void refuse_children(const struct rp_call *call,
                                                      const struct rp_spawn *spawn)
{
    rp_error("%s: the children run without reprise, so the program is stopped here rather than "
             "recorded or replayed wrongly: is '%s' statically linked, or does it clear LD_PRELOAD "
             "or its environment?",
             call->function, spawn->commands[0]);
    reprise_refused(call->function);
    rp_end_job(REPRISE_EXIT_UNSUPPORTED);
}

/* The mark lies beside what the children write: in the record, or by the state of a replay. */
int rp_spawn_with(const struct rp_call *call, const struct rp_spawn *spawn,
                  const struct rp_session *session, const char *job, const char *state,
                  int *children)
{
    char mark[PATH_MAX];
    struct rp_spawn with;

    if (snprintf(mark, sizeof mark, "%s%s%s.mark", state ? state : session->record,
                 state ? "." : "/", job) >= PATH_MAX)
        rp_bug(__FILE__, __LINE__, "the path of the record is too long");
    unlink(mark);
    rp_spawn_with_settings(spawn,
                           (const struct rp_spawn_setting[]){{"REPRISE_JOB", job},
                                                             {"REPRISE_MARK", mark},
                                                             {"REPRISE_RUN", session->record},
                                                             {"REPRISE_STATE", state ? state : ""},
                                                             {NULL, NULL}},
                           &with);
    int rc = rp_spawn_plain(call, &with);
    rp_spawn_free(&with);
    *children = rc == MPI_SUCCESS ? rp_spawn_children(spawn) : 0;
    if (*children > 0 && !rp_spawn_has_mark(mark))
        refuse_children(call, spawn);
    unlink(mark);
    return rc;
}
