/* SPDX-License-Identifier: MIT */
/*
 * Replay: the engine, and how it starts. Receives and probes are in replay_receive.c, completion in
 * replay_complete.c. Every real call is made with the program's own arguments and function where
 * possible, so that errors and error handlers are those of the record.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "engine/crash_replay.h"
#include "engine/gdb_hooks.h"
#include "engine/placeholder_requests.h"
#include "engine/rank.h"
#include "engine/replay_calls.h"
#include "engine/replay_cursor.h"
#include "engine/replay_divergence.h"
#include "engine/replay_end.h"
#include "engine/replay_finish.h"
#include "engine/replay_follow.h"
#include "engine/replay_patience.h"
#include "engine/replay_shuffle.h"
#include "engine/names.h"
#include "engine/ports.h"
#include "engine/replay_ports.h"
#include "engine/replay_spawn.h"
#include "engine/replay_turns.h"
#include "engine/standstill.h"
#include "engine/wakeup.h"
#include "log/jobs.h"
#include "log/manifest.h"
#include "log/rundir.h"
#include "entry/comms.h"
#include "preload/constants.h"
#include "interpose/debugger.h"
#include "entry/engine.h"
#include "entry/request_notes.h"
#include "entry/thread_state.h"
#include "entry/threads.h"
#include "reprise.h"

static int replay_comm_free(const struct rp_call *call, MPI_Comm *comm)
{
    rp_comms_forget(*comm);
    rp_threads_leave();
    int rc = call->next->Comm_free(comm);
    rp_threads_enter();
    return rc;
}

static int replay_comm_disconnect(const struct rp_call *call, MPI_Comm *comm)
{
    rp_comms_forget(*comm);
    rp_threads_leave();
    int rc = call->next->Comm_disconnect(comm);
    rp_threads_enter();
    return rc;
}

/* Threads */

static int replay_leads(void)
{
    return !rp_replay_is_free();
}

static void replay_threads_begin(void)
{
    rp_comms_stop_numbering();
}

static int replay_value(const struct rp_call *call, int32_t *a, uint64_t *c)
{
    const struct rp_event *event = rp_follow_expect(call, 0, RP_KIND(RP_VALUE));

    if (event) {
        *a = event->value.small;
        *c = event->value.large;
    }
    return event != NULL;
}

static void replay_finalize(void)
{
    if (rp_setting("REPRISE_SHUFFLE") && (rp_shuffle_count() > 0 || rp_rank.session.rank == 0))
        rp_note("%llu receives in commutative regions were shuffled",
                (unsigned long long)rp_shuffle_count());
    rp_replay_finish(true);
    rp_placeholder_close();
}

static void replay_end(int code)
{
    (void)code;
    rp_replay_finish(false);
}

/* Another thread ends the process: the rank's own thread cannot be asked how far it is. */
static void replay_end_elsewhere(void)
{
}

static void publishing(const char *service, const char *port)
{
    (void)service;
    rp_names_replay(rp_rank.session.name, port);
}

static const struct rp_engine engine = {
    .name = "replay",
    .receive = rp_replay_receive,
    .receive_begin = rp_replay_receive_begin,
    .receive_end = rp_replay_receive_end,
    .post_begin = rp_replay_post_begin,
    .post_end = rp_replay_post_end,
    .persistent_begin = rp_replay_persistent_begin,
    .persistent_end = rp_replay_persistent_end,
    .sent = rp_wakeup_ring,
    .region_begin = rp_shuffle_region_begin,
    .region_end = rp_shuffle_region_end,
    .Start = rp_replay_Start,
    .Startall = rp_replay_Startall,
    .Probe = rp_replay_Probe,
    .Mprobe = rp_replay_Mprobe,
    .Iprobe = rp_replay_Iprobe,
    .Improbe = rp_replay_Improbe,
    .complete = rp_replay_complete,
    .Request_get_status = rp_replay_Request_get_status,
    .Parrived = rp_replay_Parrived,
    .Cancel = rp_replay_Cancel,
    .Request_free = rp_replay_Request_free,
    .Comm_free = replay_comm_free,
    .Comm_disconnect = replay_comm_disconnect,
    .spawn = rp_replay_spawn,
    .port_opened = rp_ports_add,
    .port_closed = rp_ports_remove,
    .publishing = publishing,
    .connect = rp_replay_connect,
    .accepted = rp_ports_accepted,
    .Lookup_name = rp_replay_lookup,
    .leads = replay_leads,
    .threads_begin = replay_threads_begin,
    .turn_begin = rp_turns_await,
    .turn_end = rp_turns_take,
    .value = replay_value,
    .value_taken = rp_follow_take,
    .refused = rp_replay_refused,
    .finalize = replay_finalize,
    .abort = replay_end,
    .exit = replay_end,
    .end_elsewhere = replay_end_elsewhere,
};

/* The start */

/* What was let through in the record is let through again. */
static void list_allowed(const struct rp_manifest *m, char allowed[PATH_MAX])
{
    const char *more = rp_setting("REPRISE_ALLOW");
    size_t used = (size_t)snprintf(allowed, PATH_MAX, "%s", more ? more : "");

    for (char **name = m->allowed; *name && used < PATH_MAX; name++)
        used += (size_t)snprintf(allowed + used, PATH_MAX - used, ",%s", *name);
}

/* Rank 0: finds the record and looks whether this is its program. */
static enum rp_status find_record(char allowed[PATH_MAX], struct rp_problem *why)
{
    struct rp_manifest manifest;
    enum rp_status status = rp_session_find_record(&rp_rank.session, &manifest, why);

    if (status != RP_OK)
        return status;
    list_allowed(&manifest, allowed);
    rp_manifest_free(&manifest);
    return RP_OK;
}

static enum rp_status read_options(enum rp_at_end *at_end, struct rp_problem *why)
{
    const char *wanted = rp_setting("REPRISE_AT_END");

    if (!wanted || strcmp(wanted, "stop") == 0)
        *at_end = RP_AT_END_STOP;
    else if (strcmp(wanted, "gdb") == 0)
        *at_end = RP_AT_END_GDB;
    else if (strcmp(wanted, "continue") == 0)
        *at_end = RP_AT_END_CONTINUE;
    else
        return rp_fail(why, RP_USAGE, "REPRISE_AT_END=%s: stop, gdb or continue is expected",
                       wanted);
    return rp_setting_number("REPRISE_STALL", 0, 30, &rp_rank.stall, why);
}

/* The state file: the command's, or one of our own beside the record, or in TMPDIR if that cannot
 * be written. */
static enum rp_status make_state_for(const struct rp_jobs *jobs, char path[PATH_MAX],
                                     struct rp_problem *why)
{
    const char *temporary = getenv("TMPDIR");

    if (snprintf(path, PATH_MAX, "%s/replay-%d.state", rp_rank.session.record, (int)getpid()) <
            PATH_MAX &&
        rp_state_create_for(path, jobs, why) == RP_OK)
        return RP_OK;
    snprintf(path, PATH_MAX, "%s/reprise-%d.state", temporary ? temporary : "/tmp", (int)getpid());
    return rp_state_create_for(path, jobs, why);
}

static enum rp_status make_state(char path[PATH_MAX], struct rp_problem *why)
{
    struct rp_jobs jobs;

    if (rp_setting("REPRISE_STATE")) {
        snprintf(path, PATH_MAX, "%s", rp_setting("REPRISE_STATE"));
        return RP_OK;
    }
    enum rp_status status = rp_jobs_read(rp_rank.session.record, &jobs, why);
    if (status == RP_OK) {
        status = make_state_for(&jobs, path, why);
        rp_jobs_free(&jobs);
    }
    return status;
}

/* Opens the record of this rank, which then stands at its first event. */
static enum rp_status open_record(struct rp_problem *why)
{
    enum rp_status status = rp_cursor_open(why);

    if (status == RP_OK)
        status = rp_divergence_open(rp_setting("REPRISE_FORCE") == NULL, why);
    if (status == RP_OK)
        status = rp_rank_open(rp_cursor_total(), why);
    if (status != RP_OK)
        return status;
    rp_gdb_hook_begin(rp_rank.session.rank, rp_rank.slot->total);
    status = rp_cursor_skip_early_values(why);
    if (status == RP_OK)
        rp_cursor_skip_notes();
    return status;
}

/* From now on this rank is one of the ranks that wait for each other and end together. */
static void join_ranks(enum rp_at_end at_end)
{
    rp_wakeup_open(rp_rank.state, rp_rank.first, rp_rank.session.rank, rp_rank.session.ranks);
    rp_replay_end_open(at_end, rp_placeholder_release, rp_placeholder_sink);
    rp_crash_replay_handle(rp_replay_wait_before_crash);
    rp_standstill_open(&(struct rp_standstill){!rp_cursor_ends_in_finalize(),
                                               at_end == RP_AT_END_STOP, rp_patience_stuck,
                                               rp_replay_hangs_at_end});
}

static enum rp_status find_files(enum rp_at_end *at_end, char allowed[PATH_MAX],
                                 struct rp_problem *why)
{
    enum rp_status status = RP_OK;

    if (rp_rank.session.rank == 0)
        status = find_record(allowed, why);
    if (status == RP_OK && rp_rank.session.rank == 0)
        status = make_state(rp_rank.state_path, why);
    return status == RP_OK ? read_options(at_end, why) : status;
}

static void open_ports(void)
{
    char base[PATH_MAX + 2];

    snprintf(base, sizeof base, "%s.", rp_rank.state_path);
    rp_ports_open(base);
}

void rp_replay_start(void)
{
    struct rp_problem why;
    enum rp_at_end at_end = RP_AT_END_STOP;
    char allowed[PATH_MAX] = "";

    rp_session_open(&rp_rank.session);
    rp_debugger_open(rp_rank.session.rank);
    enum rp_status status = find_files(&at_end, allowed, &why);
    if (status != RP_OK)
        rp_error("cannot replay: %s", why.text);
    rp_session_agree(status, NULL);
    rp_session_share(&rp_rank.session, RP_OK);
    rp_session_share_text(rp_rank.state_path);
    rp_session_share_text(allowed);
    setenv("REPRISE_ALLOW", allowed, 1);
    rp_placeholder_open();
    status = open_record(&why);
    if (status == RP_OK)
        join_ranks(at_end);
    if (status == RP_OK)
        status = rp_shuffle_open(&rp_rank.session, &why);
    if (status != RP_OK)
        rp_error("cannot replay: %s", why.text);
    rp_session_agree(status, NULL);
    rp_comms_init();
    open_ports();
    rp_replay_receive_start();
    rp_replay_complete_start();
    rp_slow_set(RP_SLOW_ENGINE);
    rp_state.watched = 1; /* always look */
    rp_engine = &engine;
    rp_sends_seen = 1;
}
