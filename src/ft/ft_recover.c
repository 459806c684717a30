/* SPDX-License-Identifier: MIT */
/*
 * Recovery. All processes that live, spares as well, meet in a new world, and agree how to go on:
 *
 * 1. The old world is revoked, which ends every call in it, and shrunk to those who live. They
 * exchange who they are and which checkpoints they have (ft_attempt.c).
 * 2. Ranks that no process has go to spares, in order; if these are too few, a new process is
 * started, if the user wants that, and all meet once more with it. Spares get the rank's
 * checkpoints from its buddies; and buddies that are new get those of the ranks whose copies they
 * are to keep (ft_replacement.c).
 * 3. All exchange how many messages of each channel arrived, and which of their payloads did
 * not. So every sender knows what to send again, what to suppress, and whether its log reaches back
 * so far (ft_resend.c).
 * 4. They agree whether all that went well and whether all logs reach back. If it did not go well,
 * another process has died meanwhile: again from 1. If logs do not reach back, all go back to the
 * latest checkpoint that all have (Dichev and others, algorithm 4), and exchange the counts once
 * more.
 *
 * Nothing that outlives an attempt is changed before the agreement, but a spare's memory, which
 * begins anew in each.
 *
 * The end of the program is one, too: if all ranks are in MPI_Finalize, no rank will need
 * a log any more.
 */
#include "ft/ft_recover.h"

#include <stdio.h>
#include <time.h>

#include "base/diagnostics.h"
#include "ft/ft_abort.h"
#include "ft/ft_attempt.h"
#include "ft/ft_checkpoint.h"
#include "ft/ft_copies.h"
#include "ft/ft_coroutines.h"
#include "ft/ft_determinants.h"
#include "ft/ft_events.h"
#include "ft/ft_inject.h"
#include "ft/ft_loop.h"
#include "ft/ft_match.h"
#include "ft/ft_replacement.h"
#include "ft/ft_resend.h"
#include "ft/ft_respawn.h"
#include "ft/ft_share.h"
#include "ft/ft_snapshot.h"
#include "ft/ft_state.h"
#include "ft/ft_transmit.h"
#include "ft/ft_transport.h"
#include "ft/ft_ulfm.h"
#include "reprise.h"

jmp_buf rp_ft_finalize_point;

static struct {
    bool must_roll_back; /* an attempt to do so was interrupted: what was before is gone */
} recovery;

static void resume(struct rp_ft_attempt *a)
{
    rp_ft_set_world(a->comm, a->process_of);
    rp_ft.epoch++;
    rp_ft.broken = false;
    if (rp_ft.rank < 0)
        return;
    rp_ft_share_begin_world();
    rp_ft_transport_open();
    rp_ft_payloads_again();
    for (int p = 0; p < a->size; p++)
        rp_ft_resume_channel(a, p);
    rp_ft_checkpoint_send_copies();
}

/* A rank that repeats its setup goes on with that. */
static void take_counters_of(int64_t target)
{
    rp_ft_checkpoints_forget_after(target);
    rp_ft_determinants_forget(target);
    if (rp_ft.repeats_setup) {
        rp_ft_match_forget_deferred();
        rp_ft_checkpoint_choose(target);
        return;
    }
    rp_ft_coroutines_forget();
    rp_ft_match_forget();
    rp_ft_snapshot_restore_channels(rp_ft_checkpoint_find(rp_ft_own, target));
}

static void list_buddies(int rank, char text[128])
{
    int length = 0;

    for (int k = 0; k < rp_ft_copies && length < 100; k++)
        length += snprintf(text + length, 128 - (size_t)length, "%s%d", k == 0 ? "rank " : ", ",
                           rp_ft_buddy(rank, k));
}

/* Nothing is left to go back to. */
static _Noreturn void report_loss(const struct rp_ft_attempt *a)
{
    char buddies[128] = "", more[128] = "";
    int lost = 0;

    while (lost < rp_ft.ranks && rp_ft_latest(a->available[lost]) >= 0)
        lost++;
    if (lost == rp_ft.ranks || rp_ft_copies == 0)
        rp_ft_die(REPRISE_EXIT_INTERNAL,
                  "the logs do not reach back, and the ranks have no checkpoint "
                  "in common: keep checkpoints in files (--checkpoints DIR)");
    list_buddies(lost, buddies);
    if (rp_ft_copies + 1 < rp_ft.ranks)
        snprintf(more, sizeof more, "--copies %d survives %d deaths at once, ", rp_ft_copies + 1,
                 rp_ft_copies + 1);
    rp_ft_die(
        REPRISE_EXIT_INTERNAL,
        "rank %d died together with all that keep copies of its "
        "checkpoint (--copies %d: %s), and the logs do not reach back: %s--checkpoints DIR any "
        "number",
        lost, rp_ft_copies, buddies, more);
}

/* The counters of a checkpoint are in force once all have agreed to go back to it; a failure
 * meanwhile begins with them. */
static bool roll_back(struct rp_ft_attempt *a, int64_t target)
{
    if (target < 0)
        report_loss(a);
    if (rp_ft.rank >= 0) {
        recovery.must_roll_back = true;
        take_counters_of(target);
    }
    rp_ft_exchange_front_line(a);
    return rp_ft_attempt_agree(a, true) & RP_FT_AGREED;
}

struct outcome {
    bool rolls_back;
    int64_t target;
};

/* Steps 2 and 3. */
static void replace_dead_ranks(struct rp_ft_attempt *a)
{
    if (rp_ft.rank < 0)
        rp_ft_checkpoints_forget();
    rp_ft_find_checkpoints(a);
    rp_ft_inject_recovery(2);
    rp_ft_transfer_checkpoints(a);
    rp_ft_inject_recovery(3);
    if (a->ok)
        rp_ft_begin_anew(a);
    if (a->ok)
        rp_ft_exchange_front_line(a);
}

/* A rank that died until here is sent no logs: messages to the dead use up the transport's
 * buffers. */
static void barrier_before_agreeing(struct rp_ft_attempt *a)
{
    rp_ft_inject_recovery(4);
    if (a->ok)
        rp_ft_try(a, rp_real.Barrier(a->comm));
}

static bool recover_once(struct rp_ft_attempt *a, struct outcome *outcome)
{
    int was = rp_ft.rank;

    *outcome = (struct outcome){.rolls_back = false};
    rp_ft_inject_recovery(1);
    rp_ft_attempt_begin(a);
    if (a->ok)
        rp_ft_assign_ranks(a);
    bool goes_on = a->ok && !a->ended && a->lacking == 0;
    if (goes_on)
        replace_dead_ranks(a);
    bool suffices = !goes_on || !a->ok || (!recovery.must_roll_back && rp_ft_logs_suffice(a));
    barrier_before_agreeing(a);
    int flags = rp_ft_attempt_agree(a, suffices);
    bool agreed = flags & RP_FT_AGREED;
    if (agreed && goes_on && !(flags & RP_FT_SUFFICES)) {
        *outcome = (struct outcome){true, a->restart};
        agreed = roll_back(a, outcome->target);
    }
    if (!agreed)
        rp_ft.rank = was;
    return agreed;
}

/* As far as we know: others may be ahead or behind. */
static const char *when(char text[64])
{
    if (rp_ft.iteration < 0)
        return "before the first iteration";
    snprintf(text, 64, "in iteration %ld or near it", rp_ft.iteration);
    return text;
}

static void report(const struct rp_ft_attempt *a, const struct outcome *outcome, double since)
{
    static const char *const ways[] = {"only what died runs again",
                                       "all ranks go back to the last checkpoint"};
    char text[64];
    int reporter = -1;

    for (int i = 0; i < rp_ft.ranks && reporter < 0; i++)
        if (!rp_ft_is_new(a, a->process_of[i]))
            reporter = i;
    for (int i = 0; i < rp_ft.ranks && reporter == rp_ft.rank; i++)
        if (rp_ft_is_new(a, a->process_of[i])) {
            rp_ft_event(
                "replaced",
                "\"dead\": %d, \"generation\": %lld, \"rollback\": \"%s\", \"milliseconds\": %.3f",
                i, (long long)(outcome->rolls_back ? outcome->target : a->restart),
                outcome->rolls_back ? "global" : "local", 1e3 * (rp_ft_now() - since));
            rp_note("rank %d died %s, and was replaced in %.1f ms: %s", i, when(text),
                    1e3 * (rp_ft_now() - since), ways[outcome->rolls_back]);
        }
}

static MPI_Comm revoke_and_shrink(void)
{
    MPI_Comm living;

    rp_ulfm.revoke(rp_ft.world);
    while (rp_ulfm.shrink(rp_ft.world, &living) != MPI_SUCCESS)
        ;
    rp_real.Comm_set_errhandler(living, MPI_ERRORS_RETURN);
    return living;
}

static void close_world(void)
{
    rp_ft_transport_close();
    rp_ft_transmit_close();
    rp_ft_payloads_fail();
}

void rp_ft_recover(void)
{
    rp_ft_recover_in(MPI_COMM_NULL);
}

void rp_ft_recover_in(MPI_Comm world)
{
    double since = rp_ft_now();
    struct rp_ft_attempt a = {0};
    struct outcome outcome;
    bool first = world == MPI_COMM_NULL;

    rp_ft_end_if_ending();
    rp_ft.recoveries++;
    rp_ft_event_detected();
    for (;;) {
        a.comm = world == MPI_COMM_NULL ? revoke_and_shrink() : world;
        a.ok = true;
        if (first)
            close_world();
        first = false;
        bool agreed = recover_once(&a, &outcome);
        if (agreed && a.lacking == 0)
            break;
        rp_ft.world = a.comm;
        if (agreed)
            rp_ft_complete_files(&a);
        rp_ft_attempt_end(&a);
        world = agreed ? rp_ft_respawn(rp_ft.world) : MPI_COMM_NULL;
    }
    if (a.ended) {
        rp_ft.world = a.comm;
        rp_ft.ended = true;
        rp_ft_attempt_end(&a);
        if (rp_ft.rank >= 0)
            longjmp(rp_ft_finalize_point, 1);
        return;
    }
    recovery.must_roll_back = false;
    resume(&a);
    report(&a, &outcome, since);
    rp_ft_attempt_end(&a);
    rp_ft_event("resumed", "\"milliseconds\": %.3f", 1e3 * (rp_ft_now() - since));
    if (outcome.rolls_back && rp_ft.rank >= 0)
        rp_ft_loop_roll_back(outcome.target);
}

void rp_ft_spare(void)
{
    const struct timespec pause = {
        0, 10000000}; /* each time a rank's core is taken away for a moment */
    MPI_Request never;
    int done, nothing;

    while (rp_ft.rank < 0 && !rp_ft.ended) {
        done = 0;
        if (rp_real.Irecv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 0, rp_ft.world, &never) ==
            MPI_SUCCESS)
            while (rp_real.Test(&never, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
                nanosleep(&pause, NULL);
        rp_ft_recover();
    }
}
