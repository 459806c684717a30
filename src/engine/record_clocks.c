/* SPDX-License-Identifier: MIT */
/*
 * Every operation that can complete a receive does what recording does without clocks, and then
 * records the clocks of what it completed, as CLOCK events behind its others: only receives, which
 * is the paper's order-replay. All completing calls get here, also those that need no record
 * otherwise (RP_SLOW_CLOCKS). A recording without clocks does none of this: it has another table
 * of operations.
 *
 * CLOCK counts no posts, so these events are made without rp_record_push.
 */
#include "engine/record_clocks.h"

#include <string.h>

#include "base/diagnostics.h"
#include "codec/codec.h"
#include "job/settings.h"
#include "engine/record_events.h"
#include "peers/peer_piggyback.h"
#include "entry/refuse.h"
#include "peers/peer_reprise.h"
#include "entry/thread_state.h"
#include "reprise.h"

static const struct rp_engine *plain;
static struct rp_engine engine;

bool rp_record_clocks_wanted(void)
{
    return rp_setting("REPRISE_CLOCKS") != NULL;
}

enum rp_status rp_record_clocks_open(int rank, struct rp_problem *why)
{
    if (!reprise_piggyback_open || !reprise_piggyback_take || !reprise_piggyback_close ||
        !reprise_piggyback_synced)
        return rp_fail(why, RP_USAGE,
                       "clocks are to be recorded, but libreprise-piggyback.so is not preloaded "
                       "behind libreprise.so");
    reprise_piggyback_open(rank);
    rp_slow_set(RP_SLOW_CLOCKS);
    rp_record_by_site();
    return RP_OK;
}

static void put_clocks(const struct rp_stamp *stamps, size_t count, const struct rp_call *call)
{
    uint32_t site = rp_record_site(call), fresh = reprise_piggyback_synced() ? RP_CLOCK_FRESH : 0;

    rp_record_close_runs();
    rp_record_stamp();
    for (size_t i = 0; i < count; i++, fresh = 0)
        *rp_ring_slot(rp_recorder.ring) =
            (struct rp_event){.kind = RP_CLOCK,
                              .site = site,
                              .scope = (uint32_t)(count - 1 - i) | fresh,
                              .clock = {stamps[i].sender, stamps[i].index, stamps[i].clock}};
    rp_record_publish();
}

static void push_clocks(const struct rp_call *call)
{
    const struct rp_stamp *stamps;
    size_t count = reprise_piggyback_take(&stamps);

    if (count > 0)
        put_clocks(stamps, count, call);
}

/* Recording may poll after a blocking receive, which is a completing call too: so its stamp is
 * taken before. */
static void clocks_received_other(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                                  const MPI_Status *status, int rc)
{
    const struct rp_stamp *stamps;
    struct rp_stamp stamp;
    size_t count = reprise_piggyback_take(&stamps);

    if (count > 0)
        stamp = stamps[0];
    plain->received_other(call, source, tag, comm, status, rc);
    if (count > 0)
        put_clocks(&stamp, 1, call);
}

static int clocks_complete(const struct rp_call *call, const struct rp_completion *c)
{
    int rc = plain->complete(call, c);

    push_clocks(call);
    return rc;
}

/* The clock and the messages that carry it are one thread's. */
static void clocks_threads_begin(void)
{
    rp_error("clocks cannot be recorded of a program whose threads may all call MPI "
             "(MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE was granted, and it creates one)");
    reprise_refused("pthread_create");
    rp_end_job(REPRISE_EXIT_UNSUPPORTED);
}

/* Rows are replayed by clocks, which have no place for values. */
static bool records_rows(void)
{
    const char *codec = rp_setting("REPRISE_CODEC");

    return codec && strcmp(codec, "auto") != 0 && !rp_codec_by_name(codec);
}

static int clocks_value(const struct rp_call *call, int32_t *a, uint64_t *c)
{
    if (strncmp(call->function, "MPI_File_", 9) == 0 && records_rows()) {
        rp_error("%s cannot be recorded in this way: a replay by clocks cannot repeat the order in "
                 "which ranks use the file's pointer; record it without '--codec %s'",
                 call->function, rp_setting("REPRISE_CODEC"));
        reprise_refused(call->function);
        rp_end_job(REPRISE_EXIT_UNSUPPORTED);
    }
    return plain->value(call, a, c);
}

static void clocks_finalize(void)
{
    plain->finalize();
    reprise_piggyback_close();
}

const struct rp_engine *rp_record_clocks_over(const struct rp_engine *without)
{
    plain = without;
    engine = *without;
    engine.region_begin = NULL; /* clocks record the order anyway */
    engine.received_other = clocks_received_other;
    engine.received_matched = push_clocks;
    engine.complete = clocks_complete;
    engine.threads_begin = clocks_threads_begin;
    engine.value = clocks_value;
    engine.finalize = clocks_finalize;
    return &engine;
}
