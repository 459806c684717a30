/* SPDX-License-Identifier: MIT */
/*
 * Replay by clocks (Clock Delta Compression, section 3.6 and 5), of records that hold rows. For
 * each call, the record names the message that the call delivered to the program, by clock and
 * sender, or by its position in the reference order. It does not name the receive. So reprise
 * receives all messages itself (cdc_replay_pool.c) and delivers them as the rows say.
 *
 * A receive of the program is posted on a communicator of our own, where only we send: the payload
 * of the receive's message, when its turn has come. So requests are real ones: MPI itself makes
 * them persistent, cancels, frees and completes them, and only source and tag of a status are
 * repaired. Waits poll, since no other thread receives messages meanwhile: waits for sends and
 * collective calls too, by hooks of the piggyback library.
 *
 * A message is delivered when it is certain to be the right one. Then the rank's clock moves on,
 * and the rank publishes in one step what it waits for, what it has, and its clock
 * (cdc_replay_state.h).
 */
#include <stdio.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "cdc/replay/cdc_replay_calls.h"
#include "cdc/replay/cdc_replay_state.h"
#include "engine/crash_replay.h"
#include "engine/end_of_record.h"
#include "engine/standstill.h"
#include "log/manifest.h"
#include "entry/comms.h"
#include "event/describe.h"
#include "preload/constants.h"

#define U64(x) ((unsigned long long)(x))

struct rp_cdc_replay rp_cdc_replay;

static int cdc_comm_free(const struct rp_call *call, MPI_Comm *comm)
{
    rp_pool_forget(*comm);
    return call->next->Comm_free(comm);
}

static int cdc_comm_disconnect(const struct rp_call *call, MPI_Comm *comm)
{
    rp_pool_forget(*comm);
    return call->next->Comm_disconnect(comm);
}

static void cdc_threads_begin(void)
{
    rp_cdc_replay_refuse("a program whose threads may all call MPI");
}

static int cdc_value(const struct rp_call *call, int32_t *a, uint64_t *c)
{
    (void)call, (void)a, (void)c;
    return 0;
}

static int cdc_leads(void)
{
    return 1;
}

/* The end */

static void finish(uint32_t state)
{
    struct rp_call nowhere = {.function = "MPI_Finalize"};

    if (!rp_cdc_replay_rows_are_done())
        rp_cdc_replay_diverge(&nowhere, rp_pool_fault()
                                            ? rp_pool_fault()
                                            : "the program ended before the record did");
    atomic_store(&rp_rank.slot->done, rp_rank.slot->total);
    rp_cdc_replay_stop_sending();
    rp_rank.slot->state = state;
}

static void cdc_finalize(void)
{
    uint64_t own[1] = {rp_rank.slot->total}, sum[1] = {0};
    MPI_Request request;
    int done = 0;

    finish(RP_RANK_FINISHED);
    for (int rc = rp_pmpi.Ibarrier(rp_constant.world, &request); rc == MPI_SUCCESS && !done;
         rp_pool_poll(), usleep(50))
        rc = rp_pmpi.Test(&request, &done, MPI_STATUS_IGNORE); /* others may still send to us */
    rp_session_sum(own, sum, 1);
    rp_pmpi.Comm_free(&rp_cdc_replay.own);
    reprise_piggyback_close();
    if (rp_rank.session.rank != 0)
        return;
    unlink(rp_cdc_replay.clocks_path);
    if (!rp_setting("REPRISE_PARENT")) {
        rp_diagnostics_process("rank", -1);
        rp_note("replayed %llu events on %d ranks: identical", U64(sum[0]), rp_rank.session.ranks);
        if (sum[0] == 0)
            rp_note(RP_NOTHING_OPEN);
        unlink(rp_rank.state_path);
    }
}

static void cdc_exit(int code)
{
    (void)code;
    finish(RP_RANK_ENDED);
    rp_end_of_record_wait(rp_pool_poll); /* the job ends with us */
}

/* MPI may be in any state. */
static void wait_before_crash(bool is_crash)
{
    (void)is_crash;
    rp_cdc_replay_stop_sending();
    rp_rank.slot->state = RP_RANK_ENDED;
    rp_end_of_record_wait(NULL);
}

static void cdc_end_elsewhere(void)
{
}

static const struct rp_engine engine = {
    .name = "clocked",
    .refuses_threads = 1,
    .received_matched = rp_cdc_replay_received_matched,
    .receive = rp_cdc_replay_receive,
    .receive_begin = rp_cdc_replay_receive_begin,
    .receive_end = rp_cdc_replay_receive_end,
    .post_begin = rp_cdc_replay_post_begin,
    .post_end = rp_cdc_replay_post_end,
    .persistent_begin = rp_cdc_replay_persistent_begin,
    .persistent_end = rp_cdc_replay_persistent_end,
    .Start = rp_cdc_replay_Start,
    .Startall = rp_cdc_replay_Startall,
    .Probe = rp_cdc_replay_Probe,
    .Mprobe = rp_cdc_replay_Mprobe,
    .Iprobe = rp_cdc_replay_Iprobe,
    .Improbe = rp_cdc_replay_Improbe,
    .complete = rp_cdc_replay_complete,
    .Request_get_status = rp_cdc_replay_Request_get_status,
    .Parrived = rp_cdc_replay_Parrived,
    .Cancel = rp_cdc_replay_Cancel,
    .Request_free = rp_cdc_replay_Request_free,
    .Comm_free = cdc_comm_free,
    .Comm_disconnect = cdc_comm_disconnect,
    .leads = cdc_leads,
    .threads_begin = cdc_threads_begin,
    .value = cdc_value,
    .finalize = cdc_finalize,
    .abort = cdc_exit,
    .exit = cdc_exit,
    .end_elsewhere = cdc_end_elsewhere,
};

/* The start */

static enum rp_status find_record(struct rp_problem *why)
{
    struct rp_manifest manifest;
    enum rp_status status = rp_session_find_record(&rp_rank.session, &manifest, why);

    if (status != RP_OK)
        return status;
    if (manifest.capture && *manifest.capture)
        status = rp_fail(why, RP_UNSUPPORTED,
                         "%s has captured values (%s), which cannot be replayed by clocks",
                         rp_rank.session.directory, manifest.capture);
    rp_manifest_free(&manifest);
    return status;
}

/* The state file is the command's, or one of our own. */
static enum rp_status make_files(struct rp_problem *why)
{
    const char *wanted = rp_setting("REPRISE_STATE");
    enum rp_status status = RP_OK;

    if (wanted)
        snprintf(rp_rank.state_path, PATH_MAX, "%s", wanted);
    else if (snprintf(rp_rank.state_path, PATH_MAX, "%s/replay-%d.state", rp_rank.session.directory,
                      (int)getpid()) < PATH_MAX)
        status = rp_state_create(rp_rank.state_path, (uint32_t)rp_rank.session.ranks, why);
    if (status == RP_OK &&
        snprintf(rp_cdc_replay.clocks_path, PATH_MAX, "%s.clocks", rp_rank.state_path) < PATH_MAX) {
        unlink(rp_cdc_replay.clocks_path);
        status =
            rp_cdc_replay_create(rp_cdc_replay.clocks_path, (uint32_t)rp_rank.session.ranks, why);
    }
    return status;
}

static enum rp_status open_all(struct rp_problem *why)
{
    const struct rp_session *s = &rp_rank.session;

    if (!reprise_piggyback_open || !reprise_piggyback_hook)
        return rp_fail(why, RP_USAGE,
                       "the record is one by clocks, but libreprise-piggyback.so is not preloaded "
                       "behind libreprise.so");
    enum rp_status status = rp_log_open(s->directory, s->run, (uint32_t)s->rank, (uint32_t)s->ranks,
                                        &rp_cdc_replay.log, why);
    if (status == RP_OK)
        status = rp_cdc_replay_rows_open(rp_cdc_replay.log, rp_setting("REPRISE_FORCE") == NULL,
                                         *s->wrappers ? s->wrappers : NULL, why);
    if (status == RP_OK)
        status = rp_rank_open(rp_log_event_count(rp_cdc_replay.log), why);
    if (status == RP_OK)
        status = rp_cdc_replay_map(rp_cdc_replay.clocks_path, (uint32_t)s->ranks, (uint32_t)s->rank,
                                   why);
    if (status == RP_OK)
        status = rp_setting_number("REPRISE_STALL", 0, 30, &rp_rank.stall, why);
    return status;
}

static void open_communicator(void)
{
    int *largest = NULL, found = 0;

    rp_cdc_replay.under_way.next = rp_cdc_replay.under_way.previous = &rp_cdc_replay.under_way;
    rp_pmpi.Comm_get_attr(rp_constant.world, MPI_TAG_UB, &largest, &found);
    rp_cdc_replay.largest_tag = found ? *largest : 32767;
    rp_pmpi.Comm_dup(rp_constant.self, &rp_cdc_replay.own);
    rp_pmpi.Comm_set_errhandler(rp_cdc_replay.own, rp_constant.errors_return);
}

void rp_cdc_replay_start(void)
{
    struct rp_problem why;
    enum rp_status status = RP_OK;

    rp_session_open(&rp_rank.session);
    if (rp_rank.session.rank == 0)
        status = find_record(&why);
    if (status == RP_OK && rp_rank.session.rank == 0)
        status = make_files(&why);
    if (status != RP_OK)
        rp_error("cannot replay: %s", why.text);
    rp_session_agree(status, NULL);
    rp_session_share(&rp_rank.session, RP_OK);
    rp_session_share_text(rp_rank.state_path);
    rp_session_share_text(rp_cdc_replay.clocks_path);
    status = open_all(&why);
    if (status != RP_OK)
        rp_error("cannot replay: %s", why.text);
    rp_session_agree(status, NULL);
    open_communicator();
    rp_pool_open();
    rp_session_meet(); /* everybody's clock is there before anybody sends */
    reprise_piggyback_open(rp_rank.session.rank);
    reprise_piggyback_hook(&rp_cdc_replay_hooks);
    rp_comms_init();
    rp_slow_set(RP_SLOW_ENGINE | RP_SLOW_CLOCKS);
    rp_state.watched = 1; /* always look */
    rp_engine = &engine;
    rp_crash_replay_handle(wait_before_crash);
    rp_standstill_open(
        &(struct rp_standstill){rp_log_end(rp_cdc_replay.log).reason != RP_END_FINALIZE, true,
                                rp_cdc_replay_stuck, rp_cdc_replay_hangs_at_end});
}
