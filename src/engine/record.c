/* SPDX-License-Identifier: MIT */
/*
 * Recording. Each operation calls the real function and pushes what MPI left open as events: which
 * message a wildcard took, which requests a completion call found, whether a poll said no. Nothing
 * is sent, delayed or copied. docs/internals/recording.md says why this is enough.
 *
 * While a wildcard receive is under way, its handle is in rp_state.requests, and rp_state.watched
 * keeps the completion calls from passing us by. The usual cases of the most frequent calls are
 * written out, as functions that call nothing; everything else takes the long way round.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "codec/codec.h"
#include "engine/record_partial.h"
#include "engine/record_calls.h"
#include "engine/record_clocks.h"
#include "engine/record_data.h"
#include "engine/names.h"
#include "engine/ports.h"
#include "engine/record_ports.h"
#include "engine/record_spawn.h"
#include "engine/record_start.h"
#include "engine/session.h"
#include "log/refusal.h"
#include "log/dataformat.h"
#include "log/logwriter.h"
#include "event/wrappers.h"
#include "log/manifest.h"
#include "log/regionlog.h"
#include "peers/peer_det.h"
#include "peers/peer_reprise.h"
#include "interpose/capture.h"
#include "entry/comms.h"
#include "interpose/imports.h"
#include "entry/threads.h"
#include "event/describe.h"

static struct {
    struct rp_log_writer *writer;
    struct rp_region_writer *regions; /* NULL: no region was closed early */
    bool regions_failed;
    struct rp_session session;
} record;

void reprise_receives_may_be_cancelled(void)
{
    if (record.writer) /* without the lock: a receive that another thread posts now is not meant */
        __atomic_store_n(&rp_state.notes_named, 1, __ATOMIC_RELAXED);
}

/* Communicators */

static int record_comm_free(const struct rp_call *call, MPI_Comm *comm)
{
    rp_comms_forget(*comm);
    rp_threads_leave();
    int rc = call->next->Comm_free(comm);
    rp_threads_enter();
    return rc;
}

static int record_comm_disconnect(const struct rp_call *call, MPI_Comm *comm)
{
    rp_comms_forget(*comm);
    rp_threads_leave();
    int rc = call->next->Comm_disconnect(comm);
    rp_threads_enter();
    return rc;
}

static int record_spawn(const struct rp_call *call, const struct rp_spawn *spawn)
{
    return rp_record_spawn(call, spawn, &record.session);
}

/* Threads */

static void record_threads_begin(void)
{
    rp_record_data_threads();
    rp_record_close_runs();
    rp_record_hold(RP_RECORD_THREADS);
    rp_comms_stop_numbering();
}

static void record_turn_begin(const struct rp_call *call, int is_post)
{
    (void)is_post;
    rp_record_choose_thread(call);
    rp_record_data_turn_begin(call->function);
}

static void record_turn_end(void)
{
    rp_recorder.turns++;
    rp_record_data_turn_end();
}

static int record_value(const struct rp_call *call, int32_t *a, uint64_t *c)
{
    if (rp_threads_on && !rp_session_is_partial())
        rp_record_introduce(call);
    if (!rp_record_data_value(a, c))
        return 0;
    rp_record_event(RP_VALUE, rp_record_site(call), 0, *a, 0, *c);
    return 1;
}

/* What was captured before MPI_Init. */
static void push_early(void)
{
    struct rp_early_value value;

    for (size_t i = 0; rp_capture_early(i, &value); i++)
        rp_record_event(RP_VALUE,
                        rp_site_find(&rp_recorder.sites, value.function, value.return_address, 1),
                        1, value.a, 0, value.c);
}

/* Commutative regions */

static void note_early_end(void)
{
    struct rp_problem why;

    if (!record.regions && !record.regions_failed &&
        rp_region_create(record.session.directory, record.session.run,
                         (uint32_t)record.session.rank, &record.regions, &why) != RP_OK) {
        record.regions_failed = true;
        rp_error("%s; 'reprise replay --shuffle' will not know where commutative regions end",
                 why.text);
    }
    if (record.regions)
        rp_region_closed(record.regions, rp_recorder.ring->head);
}

static void record_region_end(void)
{
    if (rp_record_region_end())
        note_early_end();
}

/* If data is recorded as well, it is in the order of arrival. */
static void record_region_begin(unsigned long count)
{
    record_region_end();
    if (!rp_setting("REPRISE_RANKS"))
        rp_record_region_begin(count);
}

static void close_regions(void)
{
    record_region_end();
    if (record.regions)
        rp_region_close(record.regions);
    record.regions = NULL;
}

/* The end */

/* What is found out at the end needs a site, also if the program never made an event. */
static uint32_t end_site(void)
{
    struct rp_call call = {"MPI_Finalize", NULL, (uintptr_t)__builtin_return_address(0),
                           (uintptr_t)__builtin_frame_address(0)};

    return rp_state.watched ? rp_record_site(&call) : 0;
}

static enum rp_status close_log(enum rp_end_reason reason, int code, struct rp_log_totals *totals)
{
    struct rp_problem why;

    close_regions();
    rp_record_push_pending(end_site());
    rp_record_close_runs();
    rp_log_drain(record.writer);
    *totals = rp_log_totals(record.writer);
    return rp_log_close(record.writer, reason, code, &why); /* an error was said when it happened */
}

static void say_summary(const uint64_t sum[5])
{
    char data[64] = "",
         *beyond = rp_ranks_beyond(rp_setting("REPRISE_RANKS"), record.session.ranks);

    if (sum[4] > 0)
        snprintf(data, sizeof data, "and %llu bytes of data, ", (unsigned long long)sum[4]);
    rp_diagnostics_process("rank", -1);
    rp_note("recorded %llu events on %d ranks: %llu bytes, %.3f bytes a receive, %sin %s",
            (unsigned long long)sum[0], record.session.ranks, (unsigned long long)sum[2],
            sum[1] ? (double)sum[2] / (double)sum[1] : 0.0, data, record.session.directory);
    if (sum[0] == 0 && sum[4] == 0)
        rp_note(RP_NOTHING_OPEN);
    if (beyond)
        rp_note("--ranks %s: the job has ranks 0 to %d, and no %s", rp_setting("REPRISE_RANKS"),
                record.session.ranks - 1, beyond);
    free(beyond);
}

static void record_finalize(void)
{
    struct rp_log_totals totals;
    struct rp_problem why;

    rp_record_data_end();
    rp_record_settle_freed(end_site());
    if (reprise_det_end)
        reprise_det_end();
    enum rp_status status = close_log(RP_END_FINALIZE, 0, &totals);
    uint64_t own[5] = {totals.events, totals.receives, totals.bytes, status != RP_OK,
                       rp_record_data_close()},
             sum[5] = {0};
    rp_session_sum(own, sum, 5);
    rp_names_end();
    if (record.session.rank != 0 || rp_session_is_partial())
        return;
    if (sum[3] == 0 && rp_manifest_complete(record.session.directory, &why) != RP_OK)
        rp_error("%s", why.text);
    if (!rp_setting("REPRISE_PARENT") && !*record.session.job)
        say_summary(sum);
}

static void record_abort(int code)
{
    struct rp_log_totals totals;

    rp_record_data_end();
    close_log(RP_END_ABORT, code, &totals);
    rp_record_data_close();
}

static void record_exit(int status)
{
    struct rp_log_totals totals;

    rp_record_data_end();
    close_log(rp_record_data_was_left() ? RP_END_KILLED : RP_END_EXIT, status, &totals);
    rp_record_data_close();
}

/* In a partial replay there is a record already. */
static void record_refused(const char *function)
{
    if (!rp_session_is_partial())
        rp_refusal_write(record.session.record, record.session.name, function);
}

static void record_end_elsewhere(void)
{
    rp_log_drain(record.writer);
}

static void publishing(const char *service, const char *port)
{
    rp_names_record(record.session.name, service, port);
}

static const struct rp_engine engine = {
    .name = "record",
    .refuses_threads = 1,
    .received = rp_record_received,
    .received_other = rp_record_received_other,
    .persistent_begin = rp_record_persistent_begin,
    .persistent_end = rp_record_persistent_end,
    .Start = rp_record_Start,
    .Startall = rp_record_Startall,
    .Probe = rp_record_Probe,
    .Mprobe = rp_record_Mprobe,
    .Iprobe = rp_record_Iprobe,
    .Improbe = rp_record_Improbe,
    .complete = rp_record_complete,
    .Request_get_status = rp_record_Request_get_status,
    .Parrived = rp_record_Parrived,
    .Cancel = rp_record_Cancel,
    .Request_free = rp_record_Request_free,
    .Comm_free = record_comm_free,
    .Comm_disconnect = record_comm_disconnect,
    .spawn = record_spawn,
    .port_opened = rp_ports_add,
    .port_closed = rp_ports_remove,
    .publishing = publishing,
    .connect = rp_record_connect,
    .accepted = rp_record_accepted,
    .Lookup_name = rp_record_lookup,
    .threads_begin = record_threads_begin,
    .turn_begin = record_turn_begin,
    .turn_end = record_turn_end,
    .value = record_value,
    .region_begin = record_region_begin,
    .region_end = record_region_end,
    .finalize = record_finalize,
    .abort = record_abort,
    .exit = record_exit,
    .refused = record_refused,
    .end_elsewhere = record_end_elsewhere,
};

/* The start */

static void announce_site(void *owner, const struct rp_buffer *records, uint32_t first)
{
    (void)owner;
    rp_log_sites(record.writer, records, first, 1);
}

/* As the settings say; `reprise record` has looked at them. Nobody has asked for `mix` itself: then
 * it may take one hundredth of the program's time. */
static struct rp_log_manner manner(void)
{
    enum { SHARE = 10 };
    const char *codec = rp_setting("REPRISE_CODEC"), *encoder = rp_setting("REPRISE_ENCODER");
    bool is_auto = !codec || strcmp(codec, "auto") == 0;
    const struct rp_codec *found = is_auto ? NULL : rp_codec_by_name(codec);
    const struct rp_row_codec *rows = is_auto ? NULL : rp_row_codec_by_name(codec);

    return (struct rp_log_manner){
        .codec = found ? found : &rp_codec_mix,
        .is_inline = encoder && strcmp(encoder, "off") == 0,
        .rows = rows,
        .cheap = is_auto ? &rp_codec_tables : NULL,
        .share = SHARE,
    };
}

static enum rp_status open_log(struct rp_problem *why)
{
    struct rp_log_manner how = manner();
    how.timed = !how.rows && rp_setting("REPRISE_TIMESTAMPS");
    enum rp_status status =
        rp_log_create(record.session.directory, record.session.run, (uint32_t)record.session.rank,
                      (uint32_t)record.session.ranks, &how, &record.writer, why);

    if (status == RP_OK)
        status = rp_log_stream(record.writer, 0, &rp_recorder.ring, why);
    if (status == RP_OK && !rp_site_table_init(&rp_recorder.sites))
        status = rp_fail(why, RP_MEMORY, "out of memory");
    if (status == RP_OK && how.timed)
        rp_record_with_times();
    rp_recorder.sites.announce = announce_site;
    rp_recorder.sites.wrappers = rp_wrappers_list();
    return status;
}

/* Not every rank could start: nothing is left behind. */
static void undo_start(void)
{
    const char *directory = record.session.directory;
    uint32_t rank = (uint32_t)record.session.rank;
    const struct rp_data_kind *calls = &rp_data_of_calls, *loads = &rp_data_of_loads,
                              *turns = &rp_data_of_turns;
    char *made[] = {rp_log_path(directory, rank),
                    rp_ring_path(directory, rank, 0),
                    rp_data_kind_path(calls, directory, rank),
                    rp_data_kind_tail_path(calls, directory, rank),
                    rp_data_kind_path(loads, directory, rank),
                    rp_data_kind_tail_path(loads, directory, rank),
                    rp_data_kind_path(turns, directory, rank),
                    rp_data_kind_tail_path(turns, directory, rank)};
    char *manifest = rp_path_join(directory, "incomplete");

    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        if (made[i])
            unlink(made[i]);
        free(made[i]);
    }
    rp_session_meet();
    if (rank == 0 && manifest && !rp_session_is_partial()) {
        unlink(manifest);
        rmdir(directory);
    }
    free(manifest);
}

static enum rp_status open_session(struct rp_problem *why)
{
    if (rp_setting("REPRISE_SOLO"))
        return rp_session_open_partial(&record.session, why);
    rp_session_open(&record.session);
    return record.session.rank == 0 ? rp_record_found(&record.session, why) : RP_OK;
}

static void open_ports(void)
{
    char base[PATH_MAX + 2];

    snprintf(base, sizeof base, "%s/", record.session.record);
    rp_ports_open(base);
}

void rp_record_start(void)
{
    struct rp_problem why;
    enum rp_status status = RP_OK;

    if (reprise_det_pass)
        reprise_det_pass(1);
    status = open_session(&why);
    if (status != RP_OK)
        rp_error("cannot %s: %s", rp_session_is_partial() ? "replay" : "record", why.text);
    rp_session_leave_unless_ok(rp_session_is_partial() ? status
                                                       : rp_session_share(&record.session, status));
    status = open_log(&why);
    if (status == RP_OK && rp_record_clocks_wanted())
        status = rp_record_clocks_open(record.session.rank, &why);
    if (status != RP_OK)
        rp_error("cannot record: %s", why.text);
    rp_session_agree(status, undo_start);
    status = rp_record_data_open(&record.session, &why);
    if (status != RP_OK)
        rp_error("%s", why.text);
    rp_session_agree(status, undo_start);
    rp_comms_init();
    open_ports();
    rp_record_complete_start();
    rp_state.notes_named = rp_imports_cancel();
    push_early();
    rp_engine = rp_record_clocks_wanted() ? rp_record_clocks_over(&engine)
                : rp_session_is_partial() ? rp_record_partial_over(&engine, &record.session)
                                          : &engine;
    rp_record_data_go();
    if (reprise_det_pass)
        reprise_det_pass(0);
}
