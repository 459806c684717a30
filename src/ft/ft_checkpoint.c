/* SPDX-License-Identifier: MIT */
/*
 * Coordinated checkpoints in memory (Dichev and others, section 3.3). All ranks take the checkpoint
 * of one iteration together:
 *
 * 1. Each waits until its buddies, which keep copies (ft_copies.c), have its last one, of
 * generation g - 1.
 * 2. Each sends each a marker, which is an empty message. Channels keep order: when all markers
 * have arrived, no message from before them is under way. All buddies have generation g - 1 by
 * then: what is older is forgotten, and so is what was logged before the marker of g - 1.
 * 3. Each copies what it protects, its counters, and the messages that it has not received yet, but
 * for those that arrived behind their sender's marker. That is its checkpoint, of generation g.
 * 4. It goes to the buddies, while the program runs on. When they have it, the rank sends all ranks
 * RP_FT_SAFE. A rank that has this message from all forgets what it logged before its marker. If
 * one is lost in a failure, the rank forgets that later, in step 2.
 *
 * Behind the first checkpoint, and behind one at the end of the loop, all wait until all have it. A
 * rank that recovers from g goes on with step 4. The first checkpoint is that at the entry of the
 * loop. What was before is the setup. A process that takes over a rank repeats it, since a
 * checkpoint does not hold what the setup made: memory, communicators, datatypes.
 */
#include "ft/ft_checkpoint.h"

#include <stdlib.h>

#include "base/diagnostics.h"
#include "ft/ft_abort.h"
#include "ft/ft_channels.h"
#include "ft/ft_collectives.h"
#include "ft/ft_comms.h"
#include "ft/ft_copies.h"
#include "ft/ft_determinants.h"
#include "ft/ft_events.h"
#include "ft/ft_files.h"
#include "ft/ft_generations.h"
#include "ft/ft_match.h"
#include "ft/ft_progress.h"
#include "ft/ft_pt2pt.h"
#include "ft/ft_sessions.h"
#include "ft/ft_snapshot.h"
#include "ft/ft_state.h"
#include "ft/ft_transport.h"
#include "job/settings.h"
#include "reprise.h"

struct rp_ft_checkpointing rp_ft_checkpointing = {.generation = -1,
                                                  .restart_generation = -1,
                                                  .interval = 10};

static struct {
    uint64_t *markers; /* of the others, in their channels to us */
    int64_t *safe;     /* of each rank: the latest that its buddies have, as far as we know */
    bool is_settled;   /* behind the last checkpoint all wait until all have it */
} own;

static struct rp_ft_checkpoint *last(void)
{
    return rp_ft_checkpoint_find(rp_ft_own, rp_ft_checkpointing.generation);
}

/* What is known of other ranks */

static void forget_safe(void)
{
    for (int i = 0; i < rp_ft.ranks; i++)
        own.safe[i] = -1;
}

/* Nobody needs what was sent before the last checkpoint. After a restart from files there is none
 * yet. */
static void release_logs(void)
{
    struct rp_ft_checkpoint *one = last();

    if (rp_ft_checkpointing.generation >= 0 && one)
        rp_ft_snapshot_release_logs(one);
}

static void note_safe(int rank, int64_t generation)
{
    if (generation > own.safe[rank])
        own.safe[rank] = generation;
    for (int i = 0; i < rp_ft.ranks; i++)
        if (own.safe[i] < rp_ft_checkpointing.generation)
            return;
    release_logs();
}

static void on_safe(const struct rp_ft_envelope *envelope, const void *payload)
{
    (void)payload;
    note_safe(envelope->from, (int64_t)envelope->seq);
}

/* All our buddies have it. */
static void on_stored(int64_t generation)
{
    for (int i = 0; i < rp_ft.ranks; i++)
        if (i != rp_ft.rank)
            rp_ft_control(RP_FT_SAFE, i, (uint64_t)generation, NULL, 0);
    note_safe(rp_ft.rank, generation);
}

static bool is_stored(void)
{
    return rp_ft_copies_stored() >= rp_ft_checkpointing.generation;
}

void rp_ft_checkpoint_send_copies(void)
{
    struct rp_ft_checkpoint *one = last();

    if (rp_ft_checkpointing.generation >= 0 && one)
        rp_ft_copies_send(one);
}

/* Taking one */

static void refuse_what_it_cannot_hold(void)
{
    if (rp_ft.active_requests > 0)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "iteration %ld ends with %zu requests under way: a checkpoint cannot hold them; "
                  "complete them within the iteration",
                  rp_ft.iteration, rp_ft.active_requests);
    if (rp_ft_message_is_taken_out())
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "iteration %ld ends with a message that a matched probe found and that was not "
                  "received: a checkpoint cannot hold it; receive it within the iteration",
                  rp_ft.iteration);
    if (rp_ft_comms_has_of_loop())
        rp_ft_die(
            REPRISE_EXIT_UNSUPPORTED,
            "iteration %ld ends with a communicator that was made inside the loop: a checkpoint "
            "cannot hold it; make it before the loop, or free it within the iteration",
            rp_ft.iteration);
    if (rp_ft_sessions_has_of_loop())
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "iteration %ld ends with a session that was opened inside the loop: a checkpoint "
                  "cannot hold it; open it before the loop, or end it within the iteration",
                  rp_ft.iteration);
}

static void flush_channels(void)
{
    rp_ft_exchange_markers(rp_ft_comm_world(), own.markers);
    rp_ft_pull_payloads();
}

static void snapshot(long iteration)
{
    rp_ft_snapshot_take(&(struct rp_ft_snapshot){.generation = rp_ft_checkpointing.generation,
                                                 .iteration = iteration,
                                                 .interval = rp_ft_checkpointing.interval,
                                                 .has_chosen = rp_ft_checkpointing.has_chosen,
                                                 .is_last = rp_ft_checkpointing.left_loop,
                                                 .is_settled = own.is_settled},
                        own.markers);
}

/* From here on a rank that recovers does what the others do. */
static void begin_generation(long iteration)
{
    rp_ft_channels_begin_iteration(iteration);
    rp_ft_determinants_from(rp_ft_checkpointing.generation);
    rp_ft_copies_are_stored(-1);
    rp_ft_files_write(last());
    rp_ft_checkpoint_send_copies();
}

/* Nobody can go back to an earlier one than the first, nor, behind the loop, than the last. */
static void settle(void)
{
    RP_FT_WAIT_UNTIL(is_stored());
    rp_ft_barrier(rp_ft_comm_world());
    release_logs();
}

static void end_setup(void)
{
    rp_ft_channels_setup_ends();
    rp_ft.in_setup = false;
}

void rp_ft_checkpoint_take(long iteration, bool settles)
{
    const char *call = rp_ft.call;
    double since = rp_ft_now();

    rp_ft.call = "the checkpoint";
    refuse_what_it_cannot_hold();
    rp_ft_files_wait();
    RP_FT_WAIT_UNTIL(is_stored());
    flush_channels();
    release_logs();
    if (rp_ft.in_setup)
        end_setup();
    rp_ft_checkpointing.generation++;
    own.is_settled = settles;
    snapshot(iteration);
    begin_generation(iteration);
    if (own.is_settled)
        settle();
    rp_ft_files_release(rp_ft_checkpointing.generation);
    rp_ft.call = call;
    rp_ft_checkpointing.seconds = rp_ft_now() - since;
}

void rp_ft_checkpoint_end_loop(void)
{
    rp_ft_checkpointing.left_loop = true;
    rp_ft_channels_uncap();
    rp_ft_checkpointing.can_go_back = false;
}

/* Going back to one */

/* Messages that arrived after the marker, while this rank repeated its setup, stay. */
static long restore_checkpoint(void)
{
    struct rp_ft_message *deferred = NULL;

    if (rp_ft.repeats_setup) {
        deferred = rp_ft_match_take_deferred();
        rp_ft_match_forget();
    }
    rp_ft.repeats_setup = rp_ft.in_setup = false;
    struct rp_ft_snapshot snapshot = rp_ft_snapshot_restore(
        rp_ft_checkpoint_find(rp_ft_own, rp_ft_checkpointing.restart_generation));
    rp_ft_match_deliver_deferred(deferred);
    rp_ft_checkpointing.generation = rp_ft_checkpointing.restart_generation;
    rp_ft_checkpointing.interval = snapshot.interval;
    rp_ft_checkpointing.has_chosen = snapshot.has_chosen;
    own.is_settled = snapshot.is_settled;
    if (snapshot.is_last)
        rp_ft_checkpoint_end_loop();
    return (long)snapshot.iteration;
}

long rp_ft_checkpoint_resume(void)
{
    long iteration = restore_checkpoint();

    rp_ft_checkpointing.restart_generation = -1;
    rp_ft_event("restored", "\"iteration\": %ld, \"generation\": %lld", iteration,
                (long long)rp_ft_checkpointing.generation);
    rp_ft_event_repeated();
    begin_generation(iteration);
    if (own.is_settled)
        settle();
    return iteration;
}

/* The whole job begins again from files: the latest generation that all ranks have. Channels stay
 * as the setup left them; what is stored anew is a later generation, so that no file is
 * overwritten. */
long rp_ft_checkpoint_restart_from_files(void)
{
    int64_t own_files[RP_FT_GENERATIONS],
        (*all)[RP_FT_GENERATIONS] = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *all), best = -1;
    struct rp_ft_checkpoint read[RP_FT_GENERATIONS] = {{.generation = -1}, {.generation = -1}};

    rp_ft_files_list(rp_ft.rank, own_files);
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        if (own_files[i] >= 0 && !rp_ft_files_read(rp_ft.rank, own_files[i], read))
            own_files[i] = -1;
    rp_ft_allgather(rp_ft_comm_world(), own_files, sizeof own_files, all);
    for (int i = 0; i < RP_FT_GENERATIONS; i++) {
        int have = 0;
        for (int rank = 0; rank < rp_ft.ranks; rank++)
            have += all[0][i] >= 0 && (all[rank][0] == all[0][i] || all[rank][1] == all[0][i]);
        if (have == rp_ft.ranks && all[0][i] > best)
            best = all[0][i];
    }
    free(all);
    if (best < 0)
        rp_ft_die(REPRISE_EXIT_DAMAGED,
                  "--restart: there is no checkpoint in %s that all %d ranks have",
                  rp_setting("REPRISE_FT_FILES"), rp_ft.ranks);
    struct rp_ft_checkpoint *one = rp_ft_checkpoint_find(read, best);
    struct rp_ft_snapshot snapshot = rp_ft_snapshot_restore(one);
    rp_ft_checkpointing.generation = best;
    rp_ft_copies_are_stored(best);
    rp_ft_checkpoint_drop_after(read, -1);
    if (rp_ft.rank == 0)
        rp_note("the job begins again with iteration %lld, from %s", (long long)snapshot.iteration,
                rp_setting("REPRISE_FT_FILES"));
    return (long)snapshot.iteration;
}

void rp_ft_checkpoint_choose(int64_t generation)
{
    rp_ft_checkpointing.restart_generation = generation;
    rp_ft.repeats_setup = generation >= 0;
    rp_ft.in_setup = true;
    if (generation >= 0)
        rp_ft_snapshot_restore_channels(rp_ft_checkpoint_find(rp_ft_own, generation));
}

void rp_ft_checkpoints_forget(void)
{
    rp_ft_checkpoint_drop_after(rp_ft_own, -1);
    rp_ft_copies_forget_after(-1);
    rp_ft_checkpointing.restart_generation = -1;
    rp_ft.repeats_setup = false;
}

/* What is later was of another course of events. */
void rp_ft_checkpoints_forget_after(int64_t generation)
{
    forget_safe();
    rp_ft_files_wait();
    rp_ft_checkpoint_drop_after(rp_ft_own, generation);
    rp_ft_copies_forget_after(generation);
}

void rp_ft_checkpoints_start(void)
{
    const char *text = rp_setting("REPRISE_FT_INTERVAL");

    if (text)
        rp_ft_checkpointing.interval = strtol(text, NULL, 10);
    if (rp_ft_checkpointing.interval < 1)
        rp_ft_checkpointing.interval = 1;
    own.markers = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *own.markers);
    own.safe = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *own.safe);
    forget_safe();
    rp_ft_transport_handle(RP_FT_SAFE, on_safe);
    rp_ft_copies_start(on_stored);
    rp_ft_files_start();
}
