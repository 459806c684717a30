/* SPDX-License-Identifier: MIT */
/*
 * Clocks (Sato et al., SC '15, definition 4): a message is sent with the sender's clock, which is
 * then one more; a receive sets the clock to the larger of both and one more. So of a rank whose
 * clock is c, the next thing is the send with clock c, if somebody received such a message, and
 * else its next receive; unless that would lead beyond the clock of a send that is still to come:
 * then a collective call has moved the clock on to that send's. Our clock is never ahead of the
 * real one, so that no send is placed before a receive that preceded it; and where there are no
 * collective calls, it is the real one.
 *
 * Candidates are found from the end to the beginning: for each tag there is a list of the senders
 * still to come, the next first.
 */
#include "report/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "report/intern.h"

bool rp_timeline_append(struct rp_timeline *t, const struct rp_moment *moment)
{
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 1024;
        struct rp_moment *more = realloc(t->at, room * sizeof *more);
        if (!more)
            return false;
        t->at = more;
        t->room = room;
    }
    t->at[t->count++] = *moment;
    return true;
}

void rp_timeline_free(struct rp_timeline *timeline)
{
    free(timeline->at);
    free(timeline->candidate);
    memset(timeline, 0, sizeof *timeline);
}

/* Sends */

/* A message that was received, by its receiver. */
struct message {
    uint64_t sent;
    uint32_t sender, receiver;
    size_t moment;
};

static int by_sender_and_clock(const void *one, const void *other)
{
    const struct message *a = one, *b = other;

    if (a->sender != b->sender)
        return a->sender < b->sender ? -1 : 1;
    return a->sent < b->sent ? -1 : a->sent > b->sent;
}

static bool is_clock(const struct rp_moment *moment, uint32_t ranks)
{
    return moment->kind == RP_CLOCK && moment->source >= 0 && (uint32_t)moment->source < ranks;
}

static struct message *all_messages(const struct rp_timeline *timelines, uint32_t ranks,
                                    size_t *count)
{
    *count = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
        for (size_t i = 0; i < timelines[rank].count; i++)
            *count += is_clock(&timelines[rank].at[i], ranks);
    struct message *messages = malloc((*count + 1) * sizeof *messages), *next = messages;
    for (uint32_t rank = 0; messages && rank < ranks; rank++)
        for (size_t i = 0; i < timelines[rank].count; i++) {
            const struct rp_moment *moment = &timelines[rank].at[i];
            if (is_clock(moment, ranks))
                *next++ = (struct message){moment->sent, (uint32_t)moment->source, rank, i};
        }
    if (messages)
        qsort(messages, *count, sizeof *messages, by_sender_and_clock);
    return messages;
}

/* A rank on its way through its receives. */
struct walk {
    struct rp_timeline *timeline;
    uint64_t clock;
    size_t next;   /* moment */
    size_t behind; /* moments up to the last receive that was passed */
};

/* The clock behind the call that makes the next receives, and the moment behind it; false: there is
 * none. */
static bool look_ahead(const struct walk *walk, uint64_t *clock, size_t *behind)
{
    const struct rp_timeline *t = walk->timeline;
    size_t at = walk->next;

    *clock = walk->clock;
    while (at < t->count && t->at[at].kind != RP_CLOCK)
        at++;
    if (at == t->count)
        return false;
    bool more;
    do {
        *clock = (t->at[at].sent > *clock ? t->at[at].sent : *clock) + 1;
        more = t->at[at].number > 0 && at + 1 < t->count && t->at[at + 1].kind == RP_CLOCK;
        at++;
    } while (more);
    *behind = at;
    return true;
}

static void pass(struct walk *walk, size_t behind)
{
    for (; walk->next < behind; walk->next++) {
        struct rp_moment *moment = &walk->timeline->at[walk->next];
        if (moment->kind != RP_CLOCK)
            continue;
        walk->clock = (moment->sent > walk->clock ? moment->sent : walk->clock) + 1;
        moment->clock = walk->clock;
        moment->has_clock = true;
    }
    walk->behind = behind;
}

static void walk_to_send(struct walk *walk, uint64_t sent)
{
    uint64_t clock;
    size_t behind;

    while (walk->clock < sent && look_ahead(walk, &clock, &behind) && clock <= sent)
        pass(walk, behind);
    walk->clock = sent + 1;
}

static void find_sends(struct rp_timeline *timelines, uint32_t ranks,
                       const struct message *messages, size_t count)
{
    size_t next = 0, behind;
    uint64_t clock;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct walk walk = {.timeline = &timelines[rank]};
        for (; next < count && messages[next].sender == rank; next++) {
            walk_to_send(&walk, messages[next].sent);
            timelines[messages[next].receiver].at[messages[next].moment].send =
                (int64_t)walk.behind;
        }
        while (look_ahead(&walk, &clock, &behind))
            pass(&walk, behind);
    }
}

static bool has_message(const struct rp_moment *moment)
{
    return (moment->kind == RP_RECV || moment->kind == RP_MATCH || moment->kind == RP_PROBE) &&
           moment->source >= 0;
}

/* The receives of a call stand before its clocks: each gets the first that names its source. */
static void give_clocks_to_receives(struct rp_timeline *t)
{
    size_t first = 0; /* receives from here on may belong to the call */

    for (size_t i = 0; i < t->count; i++) {
        struct rp_moment *clock = &t->at[i];
        if (i > 0 && clock->site != t->at[i - 1].site)
            first = i;
        if (clock->kind != RP_CLOCK)
            continue;
        while (first < i && (!has_message(&t->at[first]) || t->at[first].has_clock))
            first++;
        for (size_t k = first; k < i; k++) {
            struct rp_moment *receive = &t->at[k];
            if (!has_message(receive) || receive->kind == RP_PROBE || receive->has_clock ||
                receive->source != clock->source)
                continue;
            receive->sent = clock->sent;
            receive->clock = clock->clock;
            receive->send = clock->send;
            receive->has_clock = true;
            clock->tag = receive->tag;
            break;
        }
        if (clock->number == 0)
            first = i + 1;
    }
}

/* Candidates */

enum { LOOK_AT_MOST = 64 };

struct sender {
    uint32_t next, previous; /* + 1; 0: none */
    int32_t rank;
    uint64_t sent; /* of its next message */
};

struct lists {
    struct rp_intern tags, senders; /* by tag; by tag and rank */
    struct rp_buffer heads;         /* u32 by tag: sender + 1 */
    struct sender *sender;
    size_t room;
};

static void free_lists(struct lists *lists)
{
    rp_intern_free(&lists->tags);
    rp_intern_free(&lists->senders);
    rp_buffer_free(&lists->heads);
    free(lists->sender);
}

static uint32_t *head_of(struct lists *lists, int32_t tag)
{
    uint32_t number;

    if (!rp_intern_add(&lists->tags, &tag, sizeof tag, &number))
        return NULL;
    if (lists->heads.length < lists->tags.count * sizeof number)
        rp_buffer_u32(&lists->heads, 0);
    return lists->heads.failed ? NULL : (uint32_t *)(void *)lists->heads.bytes + number;
}

static uint32_t sender_of(struct lists *lists, int32_t tag, int32_t rank)
{
    int32_t key[2] = {tag, rank};
    uint32_t number, known = lists->senders.count;

    if (!rp_intern_add(&lists->senders, key, sizeof key, &number))
        return UINT32_MAX;
    if (number < known)
        return number;
    if (number >= lists->room) {
        size_t room = lists->room ? 2 * lists->room : 64;
        struct sender *more = realloc(lists->sender, room * sizeof *more);
        if (!more)
            return UINT32_MAX;
        lists->sender = more;
        lists->room = room;
    }
    lists->sender[number] = (struct sender){.rank = rank};
    return number;
}

static void put_first(struct lists *lists, uint32_t *head, uint32_t number)
{
    struct sender *s = &lists->sender[number];

    if (*head == number + 1)
        return;
    if (s->previous)
        lists->sender[s->previous - 1].next = s->next;
    if (s->next)
        lists->sender[s->next - 1].previous = s->previous;
    s->previous = 0;
    s->next = *head;
    if (*head)
        lists->sender[*head - 1].previous = number + 1;
    *head = number + 1;
}

static bool add_candidate(struct rp_timeline *t, struct rp_moment *moment, int32_t rank)
{
    if (t->candidate_count == t->candidate_room) {
        size_t room = t->candidate_room ? 2 * t->candidate_room : 256;
        int32_t *more = realloc(t->candidate, room * sizeof *more);
        if (!more)
            return false;
        t->candidate = more;
        t->candidate_room = room;
    }
    if (moment->candidates++ == 0)
        moment->candidate = (uint32_t)t->candidate_count;
    t->candidate[t->candidate_count++] = rank;
    return true;
}

static bool find_candidates(struct rp_timeline *t, struct rp_moment *moment, bool clocked,
                            struct lists *lists)
{
    uint32_t *head = head_of(lists, moment->tag),
             own = sender_of(lists, moment->tag, moment->source);

    if (!head || own == UINT32_MAX)
        return false;
    int left = LOOK_AT_MOST;
    for (uint32_t at = *head; at && left > 0 && moment->candidates < RP_CANDIDATES;
         at = lists->sender[at - 1].next, left--) {
        const struct sender *s = &lists->sender[at - 1];
        if (s->rank == moment->source || (clocked && s->sent >= moment->clock))
            continue;
        if (!add_candidate(t, moment, s->rank))
            return false;
    }
    lists->sender[own].sent = moment->sent;
    put_first(lists, head, own);
    return true;
}

static bool find_all_candidates(struct rp_timeline *t, bool clocked)
{
    struct lists lists = {0};
    bool done = true;

    for (size_t i = t->count; done && i > 0; i--) {
        struct rp_moment *moment = &t->at[i - 1];
        if (has_message(moment) && (!clocked || moment->has_clock))
            done = find_candidates(t, moment, clocked, &lists);
    }
    free_lists(&lists);
    return done;
}

enum rp_status rp_timelines_connect(struct rp_timeline *timelines, uint32_t ranks, bool clocked,
                                    struct rp_problem *why)
{
    size_t count;
    struct message *messages = clocked ? all_messages(timelines, ranks, &count) : NULL;

    if (clocked && !messages)
        return rp_fail(why, RP_MEMORY, "out of memory");
    if (clocked)
        find_sends(timelines, ranks, messages, count);
    free(messages);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (clocked)
            give_clocks_to_receives(&timelines[rank]);
        if (!find_all_candidates(&timelines[rank], clocked))
            return rp_fail(why, RP_MEMORY, "out of memory");
    }
    return RP_OK;
}
