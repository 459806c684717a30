/* SPDX-License-Identifier: MIT */
/*
 * Two blocks are held: the current one, in which the next event is, and the one after it. By
 * format.md, section 5, the match of a receive posted now is in one of them or late. Each block's
 * matches are sorted by post when it is loaded. Posts are asked for in rising order, so each of the
 * three lists is walked once, by a cursor.
 *
 * A group (YES and its NEXTs) can span both blocks, and, with groups of more than a block, further
 * ones: then the blocks are joined into one as far as the group reaches.
 */
#include "match/matcher.h"

#include <stdlib.h>
#include <string.h>

struct block {
    struct rp_event *events;
    size_t count, room;
    struct rp_match *matches;
    size_t match_count, match_next, match_room;
};

struct rp_matcher {
    struct rp_block_source source;
    struct block current, next;
    size_t at; /* in current */
    uint64_t position;
    struct rp_match *late;
    size_t late_count, late_next;
    bool exhausted;        /* the source has no more */
    enum rp_status failed; /* of loading ahead: reported when the events are needed */
    struct rp_problem failure;
};

static int by_post(const void *one, const void *other)
{
    uint64_t a = ((const struct rp_match *)one)->post, b = ((const struct rp_match *)other)->post;

    return a < b ? -1 : a > b;
}

static bool reserve(struct block *block, size_t events, size_t matches)
{
    if (events > block->room) {
        struct rp_event *more = realloc(block->events, events * sizeof *more);
        if (!more)
            return false;
        block->events = more;
        block->room = events;
    }
    if (matches > block->match_room) {
        struct rp_match *more = realloc(block->matches, matches * sizeof *more);
        if (!more)
            return false;
        block->matches = more;
        block->match_room = matches;
    }
    return true;
}

static size_t count_matches(const struct rp_event *events, size_t count)
{
    size_t matches = 0;

    for (size_t i = 0; i < count; i++)
        matches += (size_t)rp_event_has_post(events[i].kind);
    return matches;
}

/* Lists the matches of the events from `from` on, behind those not yet asked for. */
static void list_matches(struct block *block, size_t from)
{
    for (size_t i = from; i < block->count; i++) {
        const struct rp_event *event = &block->events[i];
        if (rp_event_has_post(event->kind))
            block->matches[block->match_count++] =
                (struct rp_match){event->match.post, event->kind, event->match.source,
                                  event->match.tag};
    }
    if (block->match_count > block->match_next)
        qsort(block->matches + block->match_next, block->match_count - block->match_next,
              sizeof *block->matches, by_post);
}

/* Loads a block behind what `block` holds already. */
static enum rp_status load_behind(struct rp_matcher *m, struct block *block, struct rp_problem *why)
{
    size_t before = block->count, count = 0;

    if (m->exhausted)
        return RP_OK;
    if (!reserve(block, before + m->source.room, 0))
        return rp_fail(why, RP_MEMORY, "out of memory");
    enum rp_status status = m->source.next(m->source.owner, block->events + before, &count, why);
    if (status != RP_OK)
        return status;
    m->exhausted = count == 0;
    size_t matches = block->match_count + count_matches(block->events + before, count);
    if (!reserve(block, 0, matches))
        return rp_fail(why, RP_MEMORY, "out of memory");
    block->count = before + count;
    list_matches(block, before);
    return RP_OK;
}

static void load_next(struct rp_matcher *m)
{
    m->next.count = m->next.match_count = m->next.match_next = 0;
    if (m->failed == RP_OK)
        m->failed = load_behind(m, &m->next, &m->failure);
}

enum rp_status rp_matcher_create(struct rp_block_source source, const struct rp_match *late,
                                 size_t late_count, struct rp_matcher **out, struct rp_problem *why)
{
    struct rp_matcher *m = calloc(1, sizeof *m);
    struct rp_match *copy = malloc((late_count + 1) * sizeof *copy);

    if (!m || !copy) {
        free(m);
        free(copy);
        return rp_fail(why, RP_MEMORY, "out of memory");
    }
    if (late_count > 0)
        memcpy(copy, late, late_count * sizeof *copy);
    m->source = source;
    m->late = copy;
    m->late_count = late_count;
    enum rp_status status = load_behind(m, &m->current, why);
    if (status != RP_OK) {
        rp_matcher_free(m);
        return status;
    }
    load_next(m);
    *out = m;
    return RP_OK;
}

static void free_block(struct block *block)
{
    free(block->events);
    free(block->matches);
}

void rp_matcher_free(struct rp_matcher *m)
{
    if (!m)
        return;
    free_block(&m->current);
    free_block(&m->next);
    free(m->late);
    free(m);
}

static void advance(struct rp_matcher *m)
{
    struct block used = m->current;

    m->current = m->next;
    m->next = used;
    m->at = 0;
    load_next(m);
}

enum rp_status rp_matcher_peek(struct rp_matcher *m, const struct rp_event **out,
                               struct rp_problem *why)
{
    if (m->at == m->current.count) {
        if (m->failed != RP_OK) {
            *why = m->failure;
            return m->failed;
        }
        advance(m);
    }
    *out = m->at < m->current.count ? &m->current.events[m->at] : NULL;
    return RP_OK;
}

/* Forgets what was taken and asked for, so that joined blocks do not grow with the record. */
static void drop_used(struct rp_matcher *m)
{
    struct block *block = &m->current;

    block->count -= m->at;
    if (m->at > 0)
        memmove(block->events, block->events + m->at, block->count * sizeof *block->events);
    m->at = 0;
    block->match_count -= block->match_next;
    if (block->match_next > 0)
        memmove(block->matches, block->matches + block->match_next,
                block->match_count * sizeof *block->matches);
    block->match_next = 0;
}

/* Makes the current block longer by the next one, and that by a new one. */
static enum rp_status join(struct rp_matcher *m, struct rp_problem *why)
{
    struct block *to = &m->current, *from = &m->next;

    if (m->failed != RP_OK) {
        *why = m->failure;
        return m->failed;
    }
    drop_used(m);
    size_t before = to->count;
    if (!reserve(to, before + from->count, to->match_count + from->match_count))
        return rp_fail(why, RP_MEMORY, "out of memory");
    if (from->count > 0)
        memcpy(to->events + before, from->events, from->count * sizeof *to->events);
    to->count += from->count;
    for (size_t i = from->match_next; i < from->match_count; i++)
        to->matches[to->match_count++] = from->matches[i];
    if (to->match_count > to->match_next)
        qsort(to->matches + to->match_next, to->match_count - to->match_next, sizeof *to->matches,
              by_post);
    load_next(m);
    return RP_OK;
}

enum rp_status rp_matcher_ahead(struct rp_matcher *m, size_t ahead, const struct rp_event **out,
                                struct rp_problem *why)
{
    *out = NULL;
    while (m->at + ahead >= m->current.count) {
        if (m->next.count == 0 && m->failed == RP_OK)
            return RP_OK;
        enum rp_status status = join(m, why);
        if (status != RP_OK)
            return status;
    }
    *out = &m->current.events[m->at + ahead];
    return RP_OK;
}

const struct rp_event *rp_matcher_look(const struct rp_matcher *m, size_t ahead)
{
    size_t left = m->current.count - m->at;

    if (ahead < left)
        return &m->current.events[m->at + ahead];
    return ahead - left < m->next.count ? &m->next.events[ahead - left] : NULL;
}

void rp_matcher_take(struct rp_matcher *m)
{
    m->at++;
    m->position++;
}

uint64_t rp_matcher_position(const struct rp_matcher *m)
{
    return m->position;
}

static bool find_in(const struct rp_match *list, size_t count, size_t *next, uint64_t post,
                    struct rp_match *out)
{
    while (*next < count && list[*next].post < post)
        ++*next;
    if (*next == count || list[*next].post != post)
        return false;
    *out = list[*next];
    return true;
}

bool rp_matcher_find(struct rp_matcher *m, uint64_t post, struct rp_match *out)
{
    return find_in(m->current.matches, m->current.match_count, &m->current.match_next, post, out) ||
           find_in(m->next.matches, m->next.match_count, &m->next.match_next, post, out) ||
           find_in(m->late, m->late_count, &m->late_next, post, out);
}
