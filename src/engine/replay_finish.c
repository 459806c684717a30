/* SPDX-License-Identifier: MIT */
#include "engine/replay_finish.h"

#include <unistd.h>

#include "base/diagnostics.h"
#include "engine/names.h"
#include "engine/rank.h"
#include "engine/replay_cursor.h"
#include "engine/replay_divergence.h"
#include "engine/replay_end.h"
#include "engine/replay_turns.h"
#include "entry/threads.h"
#include "event/describe.h"
#include "job/settings.h"
#include "reprise.h"

#define U64(x) ((unsigned long long)(x))

/* Other threads may have turns and events left that the record has before this end. */
static void let_threads_finish(void)
{
    enum { PATIENCE_MS = 10000 };
    uint64_t position = UINT64_MAX;
    int64_t since = 0;
    unsigned tries = 0;

    while (!rp_replay_is_free() && !rp_turns_are_over()) {
        if (position != rp_cursor_position()) {
            position = rp_cursor_position();
            since = rp_rank_milliseconds();
        }
        if (rp_rank_milliseconds() - since > PATIENCE_MS)
            return;
        rp_threads_give_way(&tries);
    }
}

static void check_everything_was_replayed(bool finalized)
{
    const struct rp_event *left = rp_cursor_front();
    struct rp_call nowhere = {.function = "the end of the program"};

    if (left)
        rp_diverge(&nowhere, left, NULL, "the program ended before the record did");
    if (!finalized && rp_cursor_ends_in_finalize()) {
        rp_error(
            "this rank ends before MPI_Finalize, which it called in the record: NOT identical");
        rp_rank_give_up(RP_RANK_FAILED, REPRISE_EXIT_DIVERGED);
    }
}

/* Whether the events that were replayed are those that were recorded. A log that was cut off has no
 * digest. */
static bool check_digest(void)
{
    struct rp_log_end end = rp_cursor_end();
    bool is_same = rp_replay_is_free() || end.reason == RP_END_KILLED ||
                   end.reason == RP_END_STOPPED || rp_cursor_digest() == end.digest;

    if (!is_same)
        rp_error("the digest of the replayed events is %016llx, that of the record %016llx",
                 U64(rp_cursor_digest()), U64(end.digest));
    return is_same;
}

static void say_verdict(uint64_t events, bool differs, bool ran_on)
{
    rp_diagnostics_process("rank", -1);
    rp_note("replayed %llu events on %d ranks: %s", U64(events), rp_rank.session.ranks,
            differs  ? "NOT identical"
            : ran_on ? "identical up to the end of the record"
                     : "identical");
    if (events == 0)
        rp_note(RP_NOTHING_OPEN);
    if (rp_setting("REPRISE_SHUFFLE"))
        rp_note("of this shuffled replay, what was received from whom was compared, and not "
                "what was sent, computed or printed");
}

/* The verdict of all ranks is said by rank 0, where no command around the launcher says it. */
static void finish_together(bool is_same)
{
    uint64_t own[3] = {rp_cursor_position(), !is_same, rp_replay_is_free()}, sum[3] = {0};

    rp_session_sum(own, sum, 3);
    rp_names_end();
    if (!is_same)
        rp_rank.slot->state = RP_RANK_DIVERGED;
    if (rp_rank.session.rank != 0 || rp_setting("REPRISE_PARENT") || *rp_rank.session.job)
        return;
    say_verdict(sum[0], sum[1] != 0, sum[2] != 0);
    unlink(rp_rank.state_path);
}

void rp_replay_finish(bool finalized)
{
    if (rp_threads_on)
        let_threads_finish();
    rp_replay_end.is_finished = true;
    if (!rp_replay_is_free())
        check_everything_was_replayed(finalized);
    atomic_fetch_sub(&rp_rank.state->awake, 1);
    rp_rank.slot->state = finalized ? RP_RANK_FINISHED : RP_RANK_ENDED;
    bool is_same = check_digest();
    if (finalized)
        finish_together(is_same);
    else
        rp_replay_leave();
}
