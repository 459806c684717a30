/* SPDX-License-Identifier: MIT */
/* Streams of events as a program could have made them, and records around them. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "log/logreader.h"
#include "log/logwriter.h"
#include "unit.h"

enum {
    SAMPLE_RUN = 0x5eed,
    SAMPLE_RANK = 1,
    SAMPLE_RANKS = 4,
    SAMPLE_SITES = 4,
    SAMPLE_PENDING = 64
};

struct sample {
    uint64_t seed;
    struct rp_event *events;
    size_t count, room;
    uint64_t next_post;  /* of the next receive */
    uint64_t told_posts; /* counted in events already */
    uint64_t pending[SAMPLE_PENDING];
    size_t pending_count;
};

static void sample_event(struct sample *s, uint32_t kind, uint32_t scope, int32_t a, int32_t b,
                         uint64_t c)
{
    uint64_t posts = kind == RP_NO ? 0 : s->next_post - s->told_posts;

    if (s->count < s->room)
        s->events[s->count++] =
            (struct rp_event)RP_EVENT(kind, (uint32_t)unit_below(&s->seed, SAMPLE_SITES),
                                      (uint32_t)posts, scope, a, b, c);
    s->told_posts += posts;
}

/* Completes one of the pending receives: mostly an old one, sometimes any. */
static void sample_complete(struct sample *s)
{
    static const uint32_t kinds[] = {RP_MATCH, RP_MATCH, RP_MATCH,     RP_MATCH,
                                     RP_MATCH, RP_MATCH, RP_CANCELLED, RP_FREED};

    if (s->pending_count == 0)
        return;
    size_t which =
        unit_below(&s->seed, unit_below(&s->seed, 4) ? 1 + s->pending_count / 4 : s->pending_count);
    uint32_t kind = kinds[unit_below(&s->seed, 8)];
    bool cancelled = kind == RP_CANCELLED;
    sample_event(s, kind, 0, cancelled ? 0 : (int32_t)unit_below(&s->seed, 100),
                 cancelled ? 0 : (int32_t)unit_edge(&s->seed), s->pending[which]);
    s->pending_count--;
    memmove(&s->pending[which], &s->pending[which + 1],
            (s->pending_count - which) * sizeof *s->pending);
}

static void sample_some(struct sample *s)
{
    size_t count = 1 + unit_below(&s->seed, unit_below(&s->seed, 10) ? 4 : 30);

    sample_event(s, RP_YES, 40, (int32_t)unit_below(&s->seed, 40), (int32_t)count, 0);
    for (size_t i = 1; i < count; i++)
        sample_event(s, RP_NEXT, 0, (int32_t)unit_below(&s->seed, 40), 0, 0);
    for (size_t i = unit_below(&s->seed, count + 1); i > 0; i--)
        sample_complete(s);
}

static void sample_call(struct sample *s)
{
    uint64_t *seed = &s->seed;

    for (uint64_t posts = unit_below(seed, 3) ? 0 : unit_below(seed, 6); posts > 0;
         posts--, s->next_post++)
        if (unit_below(seed, 8) && s->pending_count < SAMPLE_PENDING &&
            s->next_post > 0) /* else: not a wildcard, or never matched */
            s->pending[s->pending_count++] = s->next_post;
    switch (unit_below(seed, 10)) {
    case 0:
    case 1:
        sample_event(s, RP_RECV, (uint32_t)unit_below(seed, 3), (int32_t)unit_below(seed, 100),
                     (int32_t)unit_edge(seed), 0);
        break;
    case 2:
        sample_event(s, RP_PROBE, 0, (int32_t)unit_below(seed, 100), 7, 0);
        break;
    case 3:
        sample_event(s, RP_NO, 1, 0, 0, 1 + unit_below(seed, 1000));
        break;
    case 4:
        sample_event(s, RP_YES, 1, -1, (int32_t)unit_below(seed, 2) - 1, 0);
        break;
    case 5:
        sample_event(s, unit_below(seed, 2) ? RP_UNSENT : RP_ERROR, 0, 0, 0, 0);
        break;
    case 6:
    case 7:
        sample_some(s);
        break;
    default:
        sample_complete(s);
    }
}

/* `count` events, the last of which matches receive 0, posted before the first. To be freed. */
__attribute__((unused)) static struct rp_event *sample_stream(uint64_t seed, size_t count)
{
    struct sample s = {.seed = seed,
                       .events = calloc(count, sizeof *s.events),
                       .room = count - 1,
                       .next_post = 1};

    while (s.count < s.room)
        sample_call(&s);
    s.room++;
    sample_event(&s, RP_MATCH, 0, 99, 98, 0);
    return s.events;
}

/* The SITES records of one of the sample's sites. */
static void sample_site(struct rp_buffer *records, uint32_t number)
{
    if (number == 0) {
        rp_buffer_byte(records, 'M');
        rp_buffer_string(records, "\x01\x02", 2);
        rp_buffer_string(records, "/bin/app", 8);
    }
    rp_buffer_byte(records, 'S');
    rp_buffer_string(records, "MPI_Recv", 8);
    rp_buffer_varint(records, 1);
    rp_buffer_varint(records, 1);
    rp_buffer_varint(records, 0x100 + number);
}

__attribute__((unused)) static void sample_sites(struct rp_log_writer *writer)
{
    for (uint32_t i = 0; i < SAMPLE_SITES; i++) {
        struct rp_buffer records = {0};
        sample_site(&records, i);
        rp_log_sites(writer, &records, i, 1);
        rp_buffer_free(&records);
    }
}

__attribute__((unused)) static bool
sample_create(const char *directory, struct rp_log_writer **writer, struct rp_ring **ring)
{
    struct rp_problem why;

    if (rp_log_create(directory, SAMPLE_RUN, SAMPLE_RANK, SAMPLE_RANKS,
                      &(struct rp_log_manner){.codec = &rp_codec_mix}, writer, &why) != RP_OK ||
        rp_log_stream(*writer, 0, ring, &why) != RP_OK) {
        unit_fail(__FILE__, __LINE__, "%s", why.text);
        return false;
    }
    sample_sites(*writer);
    return true;
}

/* Whether event i is the first of a call, as far as can be seen. */
__attribute__((unused)) static bool sample_starts_call(const struct rp_event *event)
{
    return event->kind != RP_NEXT && event->kind != RP_MATCH && event->kind != RP_CANCELLED &&
           event->kind != RP_FREED;
}

__attribute__((unused)) static void sample_push(struct rp_ring *ring, const struct rp_event *events,
                                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *rp_ring_slot(ring) = events[i];
        if (i + 1 == count || sample_starts_call(&events[i + 1]))
            rp_ring_publish(ring);
    }
}

__attribute__((unused)) static enum rp_status
sample_open(const char *directory, struct rp_log **log, struct rp_problem *why)
{
    return rp_log_open(directory, SAMPLE_RUN, SAMPLE_RANK, SAMPLE_RANKS, log, why);
}

/* All that the log gives until its end or an error (`status`). To be freed. */
__attribute__((unused)) static struct rp_event *
sample_read(struct rp_log *log, size_t *count, enum rp_status *status, struct rp_problem *why)
{
    static struct rp_event block[RP_CHUNK_EVENTS_LIMIT];
    struct rp_event *all = malloc(sizeof *all);
    size_t n;

    *count = 0;
    rp_log_rewind(log);
    while ((*status = rp_log_next_block(log, block, &n, why)) == RP_OK && n > 0) {
        all = realloc(all, (*count + n) * sizeof *all);
        memcpy(all + *count, block, n * sizeof *all);
        *count += n;
    }
    return all;
}

/* How many events the record gives, if they are the first of `events`; -1 if they are others. */
__attribute__((unused)) static long long sample_prefix(struct rp_log *log,
                                                       const struct rp_event *events, size_t count,
                                                       enum rp_status *status,
                                                       struct rp_problem *why)
{
    size_t found;
    struct rp_event *all = sample_read(log, &found, status, why);
    bool same = found <= count && (found == 0 || memcmp(all, events, found * sizeof *all) == 0);

    free(all);
    return same ? (long long)found : -1;
}

#endif
