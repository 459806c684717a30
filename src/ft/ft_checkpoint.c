/* SPDX-License-Identifier: MIT */
/*
 * Checkpoints, and what the program says about itself (reprise.h).
 *
 * All ranks take the checkpoint of one iteration together:
 * 1. Each waits until its keepers, which keep copies (ft_copies.c), have its last one, of
 * generation g - 1.
 * 2. Each sends each an empty message, its line. Channels keep order: when all have come, nothing
 * that was sent before is on its way any more. And all keepers have generation g - 1: what is older
 * is forgotten, as is what was logged before the line of g - 1.
 * 3. Each copies what it protects, its counters, and the messages that it did not receive yet, but
 * for those that came behind their sender's line. That is its checkpoint, of generation g.
 * 4. It goes to the keepers, while the program runs on. When they have it, all are told. Who was
 * told by all forgets what it logged before its line; if one of these words is lost in a failure,
 * that is only later, in 2.
 *
 * Behind the first checkpoint, and one at the end of the loop, all wait until all have it. A rank
 * that begins again from g goes on with 4. The first checkpoint is that at the entry of the loop;
 * what was before is the setup, which whoever takes over a rank runs through again, since a
 * checkpoint does not hold what it made there: memory, communicators, datatypes.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "ft/ft.h"
#include "reprise.h"

struct protected
{
    struct protected *next;
    int id;
    void *memory;
    size_t bytes;
    const struct reprise_state *state; /* or callbacks */
};

/* The head of a blob. Behind it: channels, communicators, messages, protected state. */
struct header {
    int64_t generation, iteration;
    int32_t next_context, ranks;
    uint32_t comms, messages;
    uint32_t protected;
    uint8_t has_chosen, is_last, is_settled, unused; /* last: taken when the loop was left */
    int64_t interval;
    uint64_t protected_at; /* where its part begins */
};

struct channel_part {
    uint64_t sent, setup_sent, arrived;
};

struct comm_part {
    int32_t context;
    uint32_t collectives;
};

struct rp_ft_checkpoint rp_ft_own[RP_FT_GENERATIONS] = {{.generation = -1}, {.generation = -1}};

static struct protected *list;
static long interval = 10;
static int64_t generation = -1; /* of the last checkpoint */
static int64_t restart = -1;    /* with what the loop begins */
static uint64_t *lines;         /* of the others, in their channels to us */
static int64_t *safe; /* the latest that the keepers of each have, as far as it was told */
static jmp_buf point;
static bool has_point, left_loop;
static bool is_settled; /* behind the last checkpoint all wait until all have it */

/* For --mtbf */
static double mtbf, checkpoint_seconds, loop_since;
static long loop_first;
static bool has_chosen; /* the interval */

/* For --check */
static bool checks, in_second_pass;
static long checked;

/* Lists of checkpoints */

struct rp_ft_checkpoint *rp_ft_checkpoint_find(struct rp_ft_checkpoint all[RP_FT_GENERATIONS],
                                               int64_t wanted)
{
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        if (all[i].generation == wanted)
            return &all[i];
    return NULL;
}

static void drop(struct rp_ft_checkpoint *one)
{
    free(one->blob);
    *one = (struct rp_ft_checkpoint){.generation = -1};
}

/* In place of the oldest, or of the same one. */
struct rp_ft_checkpoint *rp_ft_checkpoint_slot(struct rp_ft_checkpoint all[RP_FT_GENERATIONS],
                                               int64_t wanted)
{
    struct rp_ft_checkpoint *slot = rp_ft_checkpoint_find(all, wanted);

    if (!slot) {
        slot = &all[0];
        for (int i = 1; i < RP_FT_GENERATIONS; i++)
            if (all[i].generation < slot->generation)
                slot = &all[i];
    }
    return slot;
}

void rp_ft_checkpoint_put(struct rp_ft_checkpoint all[RP_FT_GENERATIONS], int64_t wanted,
                          const void *blob, size_t bytes)
{
    struct rp_ft_checkpoint *slot = rp_ft_checkpoint_slot(all, wanted);

    if (slot->bytes != bytes) {
        free(slot->blob);
        slot->blob = rp_ft_alloc(bytes);
    }
    slot->generation = wanted;
    slot->bytes = bytes;
    memcpy(slot->blob, blob, bytes);
}

void rp_ft_checkpoints_forget(void)
{
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        drop(&rp_ft_own[i]);
    rp_ft_copies_forget_after(-1);
    restart = -1;
    rp_ft_replays_setup = false;
}

static void forget_words(void)
{
    for (int i = 0; i < rp_ft.ranks; i++)
        safe[i] = -1;
}

/* All go back to this one: what is later was of another course of events. */
void rp_ft_checkpoints_forget_after(int64_t wanted)
{
    forget_words();
    rp_ft_files_wait();
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        if (rp_ft_own[i].generation > wanted)
            drop(&rp_ft_own[i]);
    rp_ft_copies_forget_after(wanted);
}

/* Making one */

static uint32_t put_comms(struct rp_buffer *out)
{
    uint32_t count = 0;

    for (int32_t context = 0; context < rp_ft_next_context; context += 2) {
        struct rp_ft_comm *comm = rp_ft_comm_by_context(context);
        if (!comm)
            continue;
        struct comm_part part = {context, comm->collectives};
        rp_buffer_put(out, &part, sizeof part);
        count++;
    }
    return count;
}

static bool is_before_line(const struct rp_ft_wire *wire)
{
    return wire->from == rp_ft.rank || wire->seq < lines[wire->from];
}

static uint32_t put_messages(struct rp_buffer *out)
{
    uint32_t count = 0;

    for (int32_t i = 0; i < rp_ft_context_count(); i++)
        for (struct rp_ft_message *message = rp_ft_context(i)->unexpected; message;
             message = message->next) {
            uint64_t has_payload = message->has_payload;
            if (!is_before_line(&message->wire))
                continue;
            rp_buffer_put(out, &message->wire, sizeof message->wire);
            rp_buffer_put(out, &has_payload, sizeof has_payload);
            if (has_payload)
                rp_buffer_put(out, rp_ft_message_payload(message), message->wire.bytes);
            count++;
        }
    return count;
}

static uint32_t put_protected(struct rp_buffer *out)
{
    uint32_t count = 0;

    for (struct protected *one = list; one; one = one->next, count++) {
        uint64_t bytes = one->state ? one->state->size(one->memory) : one->bytes;
        int64_t id = one->id;
        rp_buffer_put(out, &id, sizeof id);
        rp_buffer_put(out, &bytes, sizeof bytes);
        if (!rp_buffer_reserve(out, bytes))
            return count;
        if (one->state)
            one->state->save(one->memory, out->bytes + out->length);
        else
            memcpy(out->bytes + out->length, one->memory, bytes);
        out->length += bytes;
    }
    return count;
}

static void snapshot(long iteration)
{
    struct rp_ft_checkpoint *slot = rp_ft_checkpoint_slot(rp_ft_own, generation);
    struct rp_buffer out = {.bytes = slot->blob, .room = slot->bytes};
    struct header header = {.generation = generation,
                            .iteration = iteration,
                            .next_context = rp_ft_next_context,
                            .ranks = rp_ft.ranks,
                            .interval = interval,
                            .has_chosen = has_chosen,
                            .is_last = left_loop,
                            .is_settled = is_settled};

    slot->blob = NULL;
    rp_buffer_put(&out, &header, sizeof header);
    for (int i = 0; i < rp_ft.ranks; i++) {
        struct channel_part part = {rp_ft_channels[i].sent, rp_ft_channels[i].setup_sent, lines[i]};
        rp_buffer_put(&out, &part, sizeof part);
    }
    header.comms = put_comms(&out);
    header.messages = put_messages(&out);
    header.protected_at = out.length;
    header.protected = put_protected(&out);
    if (out.failed)
        rp_ft_die(REPRISE_EXIT_INTERNAL, "out of memory for a checkpoint of %zu bytes", out.length);
    memcpy(out.bytes, &header, sizeof header);
    slot->blob = out.bytes;
    slot->bytes = out.length;
    slot->generation = generation;
}

/* Using one */

static struct header header_of(const struct rp_ft_checkpoint *one)
{
    struct header header;

    if (!one || one->bytes < sizeof header)
        rp_bug(__FILE__, __LINE__, "a checkpoint that is not there");
    memcpy(&header, one->blob, sizeof header);
    return header;
}

void rp_ft_checkpoint_counters(const struct rp_ft_checkpoint *one)
{
    struct header header = header_of(one);
    const uint8_t *at = one->blob + sizeof header;

    for (int i = 0; i < header.ranks; i++) {
        struct rp_ft_channel *channel = &rp_ft_channels[i];
        struct channel_part part;
        memcpy(&part, at + (size_t)i * sizeof part, sizeof part);
        rp_ft_log_share_no_more(&channel->log);
        rp_ft_log_release(&channel->log, UINT64_MAX);
        channel->log.first_seq = channel->sent = part.sent;
        channel->setup_sent = part.setup_sent;
        channel->arrived = part.arrived;
    }
}

void rp_ft_checkpoint_choose(int64_t wanted)
{
    restart = wanted;
    rp_ft_replays_setup = wanted >= 0;
    rp_ft.in_setup = true;
    if (wanted >= 0)
        rp_ft_checkpoint_counters(rp_ft_checkpoint_find(rp_ft_own, wanted));
}

static const uint8_t *restore_comms(const uint8_t *at, const struct header *header)
{
    for (uint32_t i = 0; i < header->comms; i++, at += sizeof(struct comm_part)) {
        struct comm_part part;
        memcpy(&part, at, sizeof part);
        struct rp_ft_comm *comm = rp_ft_comm_by_context(part.context);
        if (!comm)
            rp_ft_die(REPRISE_EXIT_INTERNAL,
                      "a communicator of the checkpoint is not there: the setup of the program, "
                      "before its loop, did something else this time");
        comm->collectives = part.collectives;
    }
    rp_ft_next_context = header->next_context;
    return at;
}

/* Messages of this rank to itself come again by themselves only if they are sent after the line. */
static const uint8_t *restore_messages(const uint8_t *at, const struct header *header)
{
    for (uint32_t i = 0; i < header->messages; i++) {
        struct rp_ft_wire wire;
        uint64_t has_payload;
        memcpy(&wire, at, sizeof wire);
        memcpy(&has_payload, at + sizeof wire, sizeof has_payload);
        at += sizeof wire + sizeof has_payload;
        rp_ft_match_restore(&wire, has_payload ? at : NULL);
        at += has_payload ? wire.bytes : 0;
    }
    return at;
}

static void restore_protected(const uint8_t *at, const struct header *header)
{
    struct protected *one = list;

    for (uint32_t i = 0; i < header->protected; i++) {
        int64_t id;
        uint64_t bytes;
        memcpy(&id, at, sizeof id);
        memcpy(&bytes, at + sizeof id, sizeof bytes);
        at += sizeof id + sizeof bytes;
        if (!one || one->id != id || (!one->state && one->bytes != bytes))
            rp_ft_die(
                REPRISE_EXIT_USAGE,
                "the checkpoint has state %lld of %llu bytes, the program now protects something "
                "else there: what is protected before the loop must be the same in every run",
                (long long)id, (unsigned long long)bytes);
        if (one->state)
            one->state->restore(one->memory, at, bytes);
        else
            memcpy(one->memory, at, bytes);
        at += bytes;
        one = one->next;
    }
}

/* Behind the loop control cannot come back to it: logs must reach back from here on. */
static void end_loop(void)
{
    left_loop = true;
    rp_ft_log_uncap();
    has_point = false;
}

/* Messages that came after the line, while we went through the setup, stay. */
static long restore(int64_t wanted)
{
    struct rp_ft_checkpoint *one = rp_ft_checkpoint_find(rp_ft_own, wanted);
    struct header header = header_of(one);
    struct rp_ft_message *kept = NULL;

    if (rp_ft_replays_setup) {
        rp_ft_match_begin_jump(&kept);
        rp_ft_match_forget();
    }
    rp_ft_replays_setup = rp_ft.in_setup = false;
    const uint8_t *at = restore_comms(one->blob + sizeof header +
                                          (size_t)header.ranks * sizeof(struct channel_part),
                                      &header);
    at = restore_messages(at, &header);
    rp_ft_match_end_jump(kept);
    restore_protected(at, &header);
    generation = wanted;
    interval = (long)header.interval;
    has_chosen = header.has_chosen;
    is_settled = header.is_settled;
    if (header.is_last)
        end_loop();
    return (long)header.iteration;
}

/* Taking one, with all others */

static void refuse_what_it_cannot_hold(void)
{
    if (rp_ft_requests_active > 0)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "iteration %ld ends with %zu requests under way: a checkpoint cannot hold them; "
                  "complete them within the iteration",
                  rp_ft.iteration, rp_ft_requests_active);
    if (rp_ft_holds())
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "iteration %ld ends with a message that a matched probe found and that was not "
                  "received: a checkpoint cannot hold it; receive it within the iteration",
                  rp_ft.iteration);
    if (rp_ft_comm_made_in_loop())
        rp_ft_die(
            REPRISE_EXIT_UNSUPPORTED,
            "iteration %ld ends with a communicator that was made inside the loop: a checkpoint "
            "cannot hold it; make it before the loop, or free it within the iteration",
            rp_ft.iteration);
}

static void flush_channels(void)
{
    rp_ft_draw_lines(rp_ft_comm_of(MPI_COMM_WORLD), lines);
    rp_ft_pull_payloads();
}

static void setup_ends(void)
{
    for (int i = 0; i < rp_ft.ranks; i++) {
        rp_ft_channels[i].setup_sent = rp_ft_channels[i].sent;
        rp_ft_log_setup_ends(&rp_ft_channels[i].log);
    }
    rp_ft.in_setup = false;
}

static bool is_stored(void)
{
    return rp_ft_copies_stored() >= generation;
}

void rp_ft_checkpoint_give(void)
{
    struct rp_ft_checkpoint *one = rp_ft_checkpoint_find(rp_ft_own, generation);

    if (generation >= 0 && one)
        rp_ft_copies_give(one);
}

/* Nobody needs what was sent before the last checkpoint. After a restart from files there is none
 * yet. */
static void line_passed(void)
{
    struct rp_ft_checkpoint *one = rp_ft_checkpoint_find(rp_ft_own, generation);

    if (generation < 0 || !one)
        return;
    const uint8_t *at = one->blob + sizeof(struct header);
    for (int i = 0; i < rp_ft.ranks; i++) {
        struct channel_part part;
        memcpy(&part, at + (size_t)i * sizeof part, sizeof part);
        rp_ft_log_release(&rp_ft_channels[i].log, part.sent);
    }
}

static void forget_if_all_are_safe(void)
{
    for (int i = 0; i < rp_ft.ranks; i++)
        if (safe[i] < generation)
            return;
    line_passed();
}

void rp_ft_checkpoint_safe(int rank, int64_t wanted)
{
    if (wanted > safe[rank])
        safe[rank] = wanted;
    forget_if_all_are_safe();
}

void rp_ft_checkpoint_stored(int64_t wanted)
{
    for (int i = 0; i < rp_ft.ranks; i++)
        if (i != rp_ft.rank)
            rp_ft_control(RP_FT_SAFE, i, (uint64_t)wanted, NULL, 0);
    rp_ft_checkpoint_safe(rp_ft.rank, wanted);
}

/* From where a rank that begins again goes on. */
static void hand_over(long iteration)
{
    rp_ft_log_begin(iteration);
    rp_ft_determinants_from(generation);
    rp_ft_copies_are_stored(-1);
    rp_ft_files_write(rp_ft_checkpoint_find(rp_ft_own, generation));
    rp_ft_checkpoint_give();
}

/* Nobody can go back to an earlier one than the first, nor, behind the loop, than the last. */
static void settle(void)
{
    RP_FT_WAIT_UNTIL(is_stored());
    rp_ft_barrier(rp_ft_comm_of(MPI_COMM_WORLD));
    line_passed();
}

static void checkpoint(long iteration, bool settles)
{
    const char *call = rp_ft.call;
    double since = rp_ft_now();

    rp_ft.call = "the checkpoint";
    refuse_what_it_cannot_hold();
    rp_ft_files_wait();
    RP_FT_WAIT_UNTIL(is_stored());
    flush_channels();
    line_passed();
    if (rp_ft.in_setup)
        setup_ends();
    generation++;
    is_settled = settles;
    snapshot(iteration);
    hand_over(iteration);
    if (is_settled)
        settle();
    rp_ft_files_release(generation);
    rp_ft.call = call;
    checkpoint_seconds = rp_ft_now() - since;
}

/* The whole job begins again from files: the latest generation that all ranks have. Channels stay
 * as the setup left them; what is stored anew is a later generation, so that no file is
 * overwritten. */
static long restart_from_files(void)
{
    int64_t mine[RP_FT_GENERATIONS],
        (*all)[RP_FT_GENERATIONS] = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *all), best = -1;
    struct rp_ft_checkpoint read[RP_FT_GENERATIONS] = {{.generation = -1}, {.generation = -1}};

    rp_ft_files_list(rp_ft.rank, mine);
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        if (mine[i] >= 0 && !rp_ft_files_read(rp_ft.rank, mine[i], read))
            mine[i] = -1;
    rp_ft_allgather(rp_ft_comm_of(MPI_COMM_WORLD), mine, sizeof mine, all);
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
    struct header header = header_of(one);
    const uint8_t *at = restore_comms(one->blob + sizeof header +
                                          (size_t)header.ranks * sizeof(struct channel_part),
                                      &header);
    at = restore_messages(at, &header);
    restore_protected(at, &header);
    generation = best;
    rp_ft_copies_are_stored(best);
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        drop(&read[i]);
    if (rp_ft.rank == 0)
        rp_note("the job begins again with iteration %lld, from %s", (long long)header.iteration,
                rp_setting("REPRISE_FT_FILES"));
    return (long)header.iteration;
}

/* How often: Daly's estimate of the optimum, from what a checkpoint and an iteration take. All
 * ranks must come to the same: each tells what it measured, once; a rank that runs again tells what
 * it told. */

static double told_once(double seconds)
{
    int64_t nanoseconds;

    if (!rp_ft_outcome_next(&nanoseconds)) {
        nanoseconds = (int64_t)(seconds * 1e9);
        rp_ft_outcome_put(nanoseconds);
    }
    return (double)nanoseconds * 1e-9;
}

static double square_root(double x)
{
    double root = x > 1 ? x : 1;

    for (int i = 0; i < 100; i++)
        root = (root + x / root) / 2;
    return root;
}

static double daly(double cost, double between_failures)
{
    double ratio = cost / (2 * between_failures);

    if (ratio >= 1)
        return between_failures;
    return square_root(2 * cost * between_failures) * (1 + square_root(ratio) / 3 + ratio / 9) -
           cost;
}

static void choose_interval(long iteration)
{
    double mine[2] = {told_once(checkpoint_seconds),
                      told_once((rp_ft_now() - loop_since) / (double)(iteration - loop_first))},
           most[2] = {1e-9, 1e-9};
    double(*all)[2] = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *all);

    rp_ft_allgather(rp_ft_comm_of(MPI_COMM_WORLD), mine, sizeof mine, all);
    for (int i = 0; i < rp_ft.ranks; i++)
        for (int k = 0; k < 2; k++)
            most[k] = all[i][k] > most[k] ? all[i][k] : most[k];
    free(all);
    double best = daly(most[0], mtbf) / most[1];
    interval = best < 1 ? 1 : best > 1e9 ? 1000000000 : (long)best;
    has_chosen = true;
    if (rp_ft.rank == 0)
        rp_note("a checkpoint takes %.3g ms, an iteration %.3g ms: with a failure every %.6g s, a "
                "checkpoint every %ld iterations is best",
                1e3 * most[0], 1e3 * most[1], mtbf, interval);
}

/* --check: what lies between two checkpoints is done twice. The second time must end with the same
 * state. Channels go on; only what the program sees goes back. */

static void go_back(void)
{
    struct rp_ft_checkpoint *before = rp_ft_checkpoint_find(rp_ft_own, generation - 1);
    struct header header = header_of(before);
    const uint8_t *at = before->blob + sizeof header +
                        (size_t)header.ranks * sizeof(struct channel_part) +
                        header.comms * sizeof(struct comm_part);

    rp_ft_match_drop_program();
    restore_messages(at, &header);
    restore_protected(before->blob + header.protected_at, &header);
    rp_ft_barrier(rp_ft_comm_of(MPI_COMM_WORLD));
    in_second_pass = true;
    rp_ft.iteration = (long)header.iteration;
    longjmp(point, 1);
}

static void compare(long iteration)
{
    struct rp_ft_checkpoint *one = rp_ft_checkpoint_find(rp_ft_own, generation);
    struct header header = header_of(one);
    const uint8_t *old = one->blob + header.protected_at;
    struct rp_buffer now = {0};
    size_t at = 0;

    put_protected(&now);
    for (struct protected *part = list; part; part = part->next) {
        uint64_t bytes;
        memcpy(&bytes, now.bytes + at + sizeof(int64_t), sizeof bytes);
        at += 2 * sizeof bytes;
        for (uint64_t i = 0; i < bytes; i++)
            if (now.bytes[at + i] != old[at + i])
                rp_ft_die(REPRISE_EXIT_DIVERGED,
                          "iterations before %ld were done twice and ended differently, in byte "
                          "%llu of the protected state %d: the loop changes something that is not "
                          "protected, or is not deterministic",
                          iteration, (unsigned long long)i, part->id);
        at += bytes;
    }
    rp_buffer_free(&now);
    in_second_pass = false;
    checked++;
}

static void check(long iteration)
{
    if (in_second_pass) {
        compare(iteration);
        return;
    }
    checkpoint(iteration, false);
    go_back();
}

/* The program's side. It is called through a table, by the stubs that are linked into it. */

static void begin_iteration(long iteration)
{
    rp_ft.iteration = iteration;
    rp_ft.iterations++;
    rp_ft.calls = -1;
    rp_ft_note_iteration();
    rp_ft_log_begin(iteration);
    rp_ft_enter("an iteration's beginning");
}

static long first(long from)
{
    if (!rp_ft.on)
        return from;
    has_point = true;
    left_loop = false;
    if (in_second_pass) {
        from = rp_ft.iteration;
    } else if (restart >= 0) {
        from = restore(restart);
        restart = -1;
        rp_ft_event("restored", "\"iteration\": %ld, \"generation\": %lld", from,
                    (long long)generation);
        rp_ft_event_repeated();
        hand_over(from);
        if (is_settled)
            settle();
    } else {
        if (rp_setting("REPRISE_FT_RESTART"))
            from = restart_from_files();
        checkpoint(from, true);
    }
    loop_first = from;
    loop_since = rp_ft_now();
    begin_iteration(from);
    return from;
}

static long next(long iteration)
{
    if (!rp_ft.on)
        return iteration + 1;
    enum { MEASURED = 5 };
    iteration++;
    if (mtbf > 0 && !has_chosen && iteration >= loop_first + MEASURED)
        choose_interval(iteration);
    if (iteration % interval == 0 && checks)
        check(iteration);
    else if (iteration % interval == 0)
        checkpoint(iteration, false);
    begin_iteration(iteration);
    return iteration;
}

static void leave(void)
{
    if (!rp_ft.on || left_loop)
        return;
    left_loop = true;
    if (checks && rp_ft.rank == 0)
        rp_note("%ld checkpoint intervals were done twice, with the same state at the end",
                checked);
    if (rp_ft_log_is_capped())
        checkpoint(rp_ft.iteration, true);
    end_loop();
}

static void protect(int id, void *memory, size_t bytes, const struct reprise_state *state)
{
    struct protected **link = &list;

    while (*link && (*link)->id != id)
        link = &(*link)->next;
    if (!*link)
        *link = rp_ft_alloc(sizeof **link);
    (*link)->id = id;
    (*link)->memory = memory;
    (*link)->bytes = bytes;
    (*link)->state = state;
}

static void unprotect(int id)
{
    struct protected **link = &list;

    while (*link && (*link)->id != id)
        link = &(*link)->next;
    if (*link) {
        struct protected *one = *link;
        *link = one->next;
        free(one);
    }
}

static void set_interval(long iterations)
{
    if (!rp_setting("REPRISE_FT_INTERVAL") && iterations > 0)
        interval = iterations;
}

static void set_capacity(size_t bytes)
{
    if (!rp_setting("REPRISE_FT_CAPACITY"))
        rp_ft_log_capacity = bytes;
}

static void set_capacity_iterations(long iterations)
{
    if (iterations < 0)
        rp_ft_die(
            REPRISE_EXIT_USAGE,
            "reprise_capacity_iterations(%ld): a number of iterations is expected, or 0 for any",
            iterations);
    if (!rp_setting("REPRISE_FT_CAPACITY_ITERATIONS"))
        rp_ft_log_span = iterations;
}

static jmp_buf *loop_point(void)
{
    return &point;
}

static int active(void)
{
    return rp_ft.on;
}

void rp_ft_checkpoint_jump(int64_t target)
{
    if (rp_ft_replays_setup)
        return;
    if (!has_point)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "all ranks must go back to iteration %lld, but the program has no REPRISE_LOOP "
                  "to go back to",
                  (long long)target);
    restart = target;
    rp_ft_requests_forget();
    rp_ft_comms_forget_loop();
    longjmp(point, 1);
}

void rp_ft_checkpoints_start(void)
{
    const char *text = rp_setting("REPRISE_FT_INTERVAL");

    if (text)
        interval = strtol(text, NULL, 10);
    if (interval < 1)
        interval = 1;
    text = rp_setting("REPRISE_FT_CAPACITY");
    if (text)
        rp_ft_log_capacity = strtoull(text, NULL, 10);
    text = rp_setting("REPRISE_FT_CAPACITY_ITERATIONS");
    if (text)
        rp_ft_log_span = strtol(text, NULL, 10);
    text = rp_setting("REPRISE_FT_MTBF");
    if (text)
        mtbf = strtod(text, NULL);
    checks = rp_setting("REPRISE_FT_CHECK") != NULL;
    lines = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *lines);
    safe = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *safe);
    forget_words();
    rp_ft_copies_start();
    rp_ft_files_start();
}

__attribute__((visibility("default"))) const struct reprise_calls reprise_ft_calls = {
    .version = 1,
    .protect = protect,
    .unprotect = unprotect,
    .first = first,
    .next = next,
    .leave = leave,
    .point = loop_point,
    .active = active,
    .interval = set_interval,
    .capacity = set_capacity,
    .capacity_iterations = set_capacity_iterations,
};
