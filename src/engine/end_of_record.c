/* SPDX-License-Identifier: MIT */
#include "engine/end_of_record.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/diagnostics.h"
#include "engine/rank.h"
#include "job/settings.h"
#include "log/refusal.h"
#include "entry/refuse.h"
#include "reprise.h"

#define U64(x) ((unsigned long long)(x))

bool rp_end_of_record_all_replayed(void)
{
    uint64_t done, total;

    rp_state_sum(rp_rank.state, &done, &total);
    return done == total;
}

bool rp_end_of_record_somebody_is(uint32_t which)
{
    for (uint32_t i = 0; i < rp_rank.state->ranks; i++)
        if (rp_state_now(&rp_rank.state->rank[i]) == which)
            return true;
    return false;
}

void rp_end_of_record_say(const struct rp_log_end *end, uint64_t event, const char *function)
{
    char how[80] = "was killed";

    if (end->reason == RP_END_ABORT)
        snprintf(how, sizeof how, "called MPI_Abort(%lld)", (long long)end->code);
    else if (end->reason == RP_END_EXIT)
        snprintf(how, sizeof how, "exited with status %lld without MPI_Finalize",
                 (long long)end->code);
    else if (end->reason == RP_END_STOPPED)
        snprintf(how, sizeof how, "could no longer be recorded: %s", strerror((int)end->code));
    else if (end->reason == RP_END_FINALIZE)
        snprintf(how, sizeof how, "called MPI_Finalize");
    rp_note("end of the record after event %llu, in %s: there this rank %s", U64(event), function,
            how);
}

/* How long the others must have been at rest before the job may end. A rank that runs on behind its
 * last event may be on its way to its crash, or blocked where we do not see it; one that is about
 * to end the job by itself goes first. */
static int64_t grace(void)
{
    enum { ENDING_MS = 200, PARKED_MS = 1000, CALL_MS = 4000, ENDED_MS = 5000 };
    bool ending = rp_rank.slot->state == RP_RANK_ENDED;

    if (!rp_end_of_record_all_replayed() ||
        (rp_end_of_record_somebody_is(RP_RANK_RUNNING) && !ending))
        return rp_rank.stall > 0 ? rp_rank.stall * 1000 : 30000;
    if (ending)
        return ENDING_MS;
    if (rp_end_of_record_somebody_is(RP_RANK_ENDED))
        return ENDED_MS;
    return rp_end_of_record_somebody_is(RP_RANK_WAITING) ? CALL_MS : PARKED_MS;
}

void rp_end_of_record_wait(void (*take_in)(void))
{
    struct timespec pause = {0, 1000000};
    int64_t over_since = -1;
    uint64_t moves = 0;

    for (;;) {
        if (take_in)
            take_in();
        nanosleep(&pause, NULL);
        bool ready = rp_rank.slot->state == RP_RANK_ENDED && rp_end_of_record_all_replayed();
        uint64_t before = moves;
        moves = rp_state_moves(rp_rank.state);
        if (!ready && (!rp_state_is_over(rp_rank.state) ||
                       (moves != before && !rp_end_of_record_all_replayed()))) {
            over_since = -1;
            continue;
        }
        int64_t now = rp_rank_milliseconds();
        if (over_since < 0)
            over_since = now;
        if (now - over_since > grace())
            return;
    }
}

void rp_end_of_record_say_verdict(void)
{
    uint64_t done, total;
    char ranks[RP_RANKS_WORDS];

    if (rp_setting("REPRISE_PARENT") || atomic_exchange(&rp_rank.state->has_verdict, 1))
        return;
    rp_state_sum(rp_rank.state, &done, &total);
    rp_diagnostics_process("rank", -1);
    struct rp_buffer text = {0};
    if (rp_refusal_describe(rp_rank.session.record, rp_rank.state, &text))
        rp_error("%s", text.failed ? "the recording was refused" : (char *)text.bytes);
    else if (done == total)
        rp_note("replayed %llu events on %s: identical up to the end of the record", U64(done),
                rp_state_ranks(rp_rank.state, ranks));
    else
        rp_error("replayed %llu of %llu events on %s: identical, but the rest needs ranks "
                 "whose record ended before",
                 U64(done), U64(total), rp_state_ranks(rp_rank.state, ranks));
    rp_buffer_free(&text);
}

void rp_end_of_record_stop(void)
{
    rp_end_of_record_say_verdict();
    rp_rank.state->stopped = rp_end_of_record_all_replayed() ? RP_STOPPED_AT_END : RP_STOPPED_SHORT;
    rp_end_job(rp_end_of_record_all_replayed() ? 0 : REPRISE_EXIT_DAMAGED);
}

void rp_end_of_record_hangs(const struct rp_log_end *end, const char *function)
{
    if (!rp_rank_may_report())
        rp_rank_wait_to_be_ended();
    rp_end_of_record_say(end, rp_rank.slot->done, function);
    rp_end_of_record_stop();
}
