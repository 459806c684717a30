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
#include "engine/wakeup.h"
#include "engine/replay_calls.h"
#include "engine/replay_follow.h"
#include "engine/replay_shuffle.h"
#include "engine/placeholder_requests.h"
#include "engine/session.h"
#include "log/manifest.h"
#include "log/rundir.h"
#include "entry/comms.h"
#include "preload/constants.h"
#include "interpose/debugger.h"
#include "entry/engine.h"
#include "entry/life.h"
#include "entry/request_notes.h"
#include "entry/thread_state.h"
#include "entry/threads.h"
#include "reprise.h"

static struct rp_session session;

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
    return !rp_follow_is_free();
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
    if (rp_setting("REPRISE_SHUFFLE") && (rp_shuffle_count() > 0 || session.rank == 0))
        rp_note("%llu receives in commutative regions were shuffled",
                (unsigned long long)rp_shuffle_count());
    rp_follow_finish(true);
    rp_placeholder_close();
}

static void replay_end(int code)
{
    (void)code;
    rp_follow_finish(false);
}

/* Another thread ends the process: the rank's own thread cannot be asked how far it is. */
static void replay_end_elsewhere(void)
{
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
    .leads = replay_leads,
    .threads_begin = replay_threads_begin,
    .turn_begin = rp_follow_await_turn,
    .turn_end = rp_follow_take_turn,
    .value = replay_value,
    .value_taken = rp_follow_take,
    .refused = rp_follow_refused,
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
    enum rp_status status = rp_session_find_record(&session, &manifest, why);

    if (status != RP_OK)
        return status;
    list_allowed(&manifest, allowed);
    rp_manifest_free(&manifest);
    return RP_OK;
}

static enum rp_status read_options(struct rp_follow_options *options, struct rp_problem *why)
{
    const char *at_end = rp_setting("REPRISE_AT_END");

    options->check_places = rp_setting("REPRISE_FORCE") == NULL;
    if (!at_end || strcmp(at_end, "stop") == 0)
        options->at_end = RP_AT_END_STOP;
    else if (strcmp(at_end, "gdb") == 0)
        options->at_end = RP_AT_END_GDB;
    else if (strcmp(at_end, "continue") == 0)
        options->at_end = RP_AT_END_CONTINUE;
    else
        return rp_fail(why, RP_USAGE, "REPRISE_AT_END=%s: stop, gdb or continue is expected",
                       at_end);
    return rp_setting_number("REPRISE_STALL", 0, 30, &options->stall, why);
}

/* The state file: the command's, or one of our own beside the record, or in TMPDIR if that cannot
 * be written. */
static enum rp_status make_state(char path[PATH_MAX], struct rp_problem *why)
{
    const char *temporary = getenv("TMPDIR");

    if (rp_setting("REPRISE_STATE")) {
        snprintf(path, PATH_MAX, "%s", rp_setting("REPRISE_STATE"));
        return RP_OK;
    }
    if (snprintf(path, PATH_MAX, "%s/replay-%d.state", session.directory, (int)getpid()) <
            PATH_MAX &&
        rp_state_create(path, (uint32_t)session.ranks, why) == RP_OK)
        return RP_OK;
    snprintf(path, PATH_MAX, "%s/reprise-%d.state", temporary ? temporary : "/tmp", (int)getpid());
    return rp_state_create(path, (uint32_t)session.ranks, why);
}

void rp_replay_start(void)
{
    struct rp_problem why;
    struct rp_follow_options options = {0};
    char state[PATH_MAX] = "", allowed[PATH_MAX] = "";
    enum rp_status status = RP_OK;

    rp_session_open(&session);
    rp_debugger_open(session.rank);
    if (session.rank == 0)
        status = find_record(allowed, &why);
    if (status == RP_OK && session.rank == 0)
        status = make_state(state, &why);
    if (status == RP_OK)
        status = read_options(&options, &why);
    if (status != RP_OK)
        rp_error("cannot replay: %s", why.text);
    rp_session_agree(status, NULL);
    rp_session_share(&session, RP_OK);
    rp_session_share_text(state);
    rp_session_share_text(allowed);
    setenv("REPRISE_ALLOW", allowed, 1);
    rp_placeholder_open();
    status = rp_follow_open(&session, &options, state, rp_placeholder_release, rp_placeholder_sink,
                            &why);
    if (status == RP_OK)
        status = rp_shuffle_open(&session, &why);
    if (status != RP_OK)
        rp_error("cannot replay: %s", why.text);
    rp_session_agree(status, NULL);
    rp_comms_init();
    rp_replay_receive_start();
    rp_replay_complete_start();
    rp_slow_set(RP_SLOW_ENGINE);
    rp_state.watched = 1; /* always look */
    rp_engine = &engine;
    rp_sends_seen = 1;
}
