/* SPDX-License-Identifier: MIT */
/*
 * Logical time is the number of an event on its rank: both logs are read side by side, and the
 * first events that are not the same are the divergence. Polls that answered no stand in groups
 * whose order says nothing, so all between two other events are compared as a whole. The clocks of
 * CLOCK events are not compared: they show the sender's past, not what this rank saw.
 *
 * Where a rank that differs has several threads, their order alone may be the difference. So each
 * thread is compared for itself, too, by another pass in which the events of all others, and what
 * they count in common (posts and their numbers, turns), are passed over.
 *
 * Which divergence came first. If that of rank r led to that of rank s by messages, the one that s
 * had last was sent with a clock that is larger than r's. A rank's clock is at least one more than
 * the largest that it received, so among these bounds the smallest is that of a divergence which no
 * other has led to. That a rank ended early is mostly the consequence of what another did: such
 * divergences are named last.
 */
#include "report/diff.h"

#include <stdlib.h>
#include <string.h>

#include "event/naming.h"
#include "log/logreader.h"
#include "report/callsites.h"

enum { THREADS_MOST = 32, CALL_MOST = 4096 };

/* One of the two logs of a rank. */
struct cursor {
    struct rp_log *log;
    const struct rp_site_table *sites;
    struct rp_event *block;
    size_t count, at;
    uint64_t number;      /* of block[at] */
    int32_t thread;       /* whose turn it is */
    uint64_t *identities; /* of threads */
    size_t identity_count;
    bool clocked;
    uint64_t clock;         /* one more than the largest received */
    struct rp_buffer polls; /* the events of the unit */
};

/* What is compared at once: an event, or all polls up to the next. */
struct unit {
    bool is_end;
    uint64_t number;
    struct rp_event event; /* of polls: the first */
    int32_t thread;
    uint64_t time;
};

struct pair {
    struct rp_diff *diff;
    struct rp_naming *naming;
    uint32_t rank;
    bool without_polls;
    uint64_t only; /* identity of the thread that counts; 0: all */
    struct cursor side[2];
    uint32_t *
        same_site; /* by site of the first: that of the second which is known to be the same, + 1 */
};

/* Reading */

static enum rp_status fill(struct cursor *c, bool *more, struct rp_problem *why)
{
    enum rp_status status = RP_OK;

    if (c->at == c->count) {
        c->at = 0;
        status = rp_log_next_block(c->log, c->block, &c->count, why);
    }
    *more = status == RP_OK && c->at < c->count;
    return status;
}

static bool note_identity(struct cursor *c, const struct rp_event *event)
{
    size_t number = event->thread.number >= 0 ? (size_t)event->thread.number : 0;

    if (number >= c->identity_count) {
        if (number > c->identity_count) /* they come in order */
            return true;
        uint64_t *more = realloc(c->identities, (number + 1) * sizeof *more);
        if (!more)
            return false;
        c->identities = more;
        c->identity_count = number + 1;
    }
    c->identities[number] = event->thread.identity;
    return true;
}

static uint64_t identity_of(const struct cursor *c, int32_t thread)
{
    return thread >= 0 && (size_t)thread < c->identity_count ? c->identities[thread] : 0;
}

/* What the cursor learns by an event that it passes. */
static bool learn(struct cursor *c, const struct rp_event *event)
{
    if (event->kind == RP_THREAD)
        return note_identity(c, event);
    if (event->kind == RP_TURN)
        c->thread = event->turn.thread;
    if (event->kind == RP_CLOCK && event->clock.clock >= c->clock)
        c->clock = event->clock.clock + 1;
    return true;
}

static int32_t thread_of(const struct cursor *c, const struct rp_event *event)
{
    return event->kind == RP_NO || event->kind == RP_THREAD || event->kind == RP_TURN ? event->any.a
                                                                                      : c->thread;
}

static bool is_passed_over(const struct pair *p, const struct cursor *c,
                           const struct rp_event *event)
{
    if (event->kind == RP_NO && p->without_polls)
        return true;
    if (p->only == 0)
        return false;
    return event->kind == RP_THREAD || event->kind == RP_TURN ||
           identity_of(c, thread_of(c, event)) != p->only;
}

static enum rp_status next_unit(const struct pair *p, struct cursor *c, struct unit *unit,
                                struct rp_problem *why)
{
    bool more, in_polls = false;
    enum rp_status status;

    *unit = (struct unit){.is_end = true};
    rp_buffer_clear(&c->polls);
    while ((status = fill(c, &more, why)) == RP_OK && more) {
        const struct rp_event *event = &c->block[c->at];
        bool passed = is_passed_over(p, c, event), counts = !passed;
        if (counts && in_polls && event->kind != RP_NO)
            break;
        if (counts && unit->is_end)
            *unit =
                (struct unit){false, c->number, *event, thread_of(c, event),
                              rp_log_block_times(c->log) ? rp_log_block_times(c->log)[c->at] : 0};
        if (counts && event->kind == RP_NO) {
            rp_buffer_put(&c->polls, event, sizeof *event);
            in_polls = true;
        }
        if (!learn(c, event) || c->polls.failed)
            return rp_fail(why, RP_MEMORY, "out of memory");
        c->at++;
        c->number++;
        if (counts && !in_polls)
            break;
    }
    if (unit->is_end)
        unit->number = c->number;
    return status;
}

/* Comparing */

static bool same_line(struct pair *p, uint32_t one, uint32_t other)
{
    struct rp_source_line a, b;
    struct rp_source_lines *lines = rp_naming_lines(p->naming);

    if (!rp_source_lines_of_site(lines, p->side[0].sites, one, &a) ||
        !rp_source_lines_of_site(lines, p->side[1].sites, other, &b))
        return true;
    return a.line == b.line && strcmp(a.file, b.file) == 0;
}

/* Of another build, lines are compared where both are known. */
static bool same_place(struct pair *p, uint32_t one, uint32_t other)
{
    bool (*same)(const struct rp_site_table *, uint32_t, const struct rp_site_table *, uint32_t) =
        p->diff->same_callers ? rp_site_same_chain : rp_site_same;

    if (p->same_site[one] == other + 1)
        return true;
    if (!same(p->side[0].sites, one, p->side[1].sites, other) ||
        (!p->diff->same_program && !same_line(p, one, other)))
        return false;
    p->same_site[one] = other + 1;
    return true;
}

static const char *function_of(const struct pair *p, int side, const struct rp_event *event)
{
    return p->side[side].sites->sites[event->site].function;
}

static int by_what_they_polled(const void *one, const void *other, void *table)
{
    const struct rp_site_table *sites = table;
    const struct rp_event *a = one, *b = other;
    int order = strcmp(sites->sites[a->site].function, sites->sites[b->site].function);

    if (order == 0 && a->scope != b->scope)
        order = a->scope < b->scope ? -1 : 1;
    if (order == 0 && a->no.thread != b->no.thread)
        order = a->no.thread < b->no.thread ? -1 : 1;
    if (order == 0 && a->no.times != b->no.times)
        order = a->no.times < b->no.times ? -1 : 1;
    return order;
}

static struct rp_event *sorted_polls(struct cursor *c, size_t *count)
{
    struct rp_event *events = (struct rp_event *)(void *)c->polls.bytes;

    *count = c->polls.length / sizeof *events;
    if (*count > 1)
        qsort_r(events, *count, sizeof *events, by_what_they_polled, (void *)(uintptr_t)c->sites);
    return events;
}

static bool same_polls(struct pair *p)
{
    size_t counts[2];
    struct rp_event *one = sorted_polls(&p->side[0], &counts[0]),
                    *other = sorted_polls(&p->side[1], &counts[1]);

    if (counts[0] != counts[1])
        return false;
    for (size_t i = 0; i < counts[0]; i++) {
        bool same_thread = p->only != 0 || one[i].no.thread == other[i].no.thread;
        if (one[i].scope != other[i].scope || one[i].no.times != other[i].no.times ||
            !same_thread || !same_place(p, one[i].site, other[i].site))
            return false;
    }
    return true;
}

/* Whether the number of a post, or a count, is the thread's own. */
static bool c_counts(const struct pair *p, uint32_t kind)
{
    return kind != RP_CLOCK && !(p->only != 0 && rp_event_has_post(kind));
}

static bool tells_message(uint32_t kind)
{
    return kind == RP_RECV || kind == RP_PROBE || kind == RP_MATCH || kind == RP_FREED ||
           kind == RP_CLOCK;
}

static enum rp_difference compare_events(struct pair *p, const struct rp_event *one,
                                         const struct rp_event *other)
{
    if (strcmp(function_of(p, 0, one), function_of(p, 1, other)) != 0)
        return RP_DIFFERS_FUNCTION;
    if (!same_place(p, one->site, other->site))
        return RP_DIFFERS_PLACE;
    if (one->kind != other->kind)
        return one->kind == RP_TURN || other->kind == RP_TURN || one->kind == RP_THREAD ||
                       other->kind == RP_THREAD
                   ? RP_DIFFERS_THREAD
                   : RP_DIFFERS_OUTCOME;
    if (p->only == 0 && one->posts != other->posts)
        return RP_DIFFERS_POSTS;
    if (one->kind != RP_CLOCK && one->scope != other->scope)
        return RP_DIFFERS_SCOPE;
    if (one->any.a == other->any.a && one->any.b == other->any.b &&
        (one->any.c == other->any.c || !c_counts(p, one->kind)))
        return RP_SAME;
    if (one->kind == RP_THREAD || one->kind == RP_TURN)
        return RP_DIFFERS_THREAD;
    return tells_message(one->kind) ? RP_DIFFERS_MESSAGE : RP_DIFFERS_OUTCOME;
}

static enum rp_difference compare_ends(const struct pair *p)
{
    struct rp_log_end one = rp_log_end(p->side[0].log), other = rp_log_end(p->side[1].log);

    return one.reason == other.reason && one.code == other.code ? RP_SAME : RP_DIFFERS_END;
}

static enum rp_difference compare(struct pair *p, const struct unit *one, const struct unit *other)
{
    if (one->is_end && other->is_end)
        return p->only == 0 ? compare_ends(p) : RP_SAME;
    if (one->is_end || other->is_end)
        return RP_DIFFERS_END;
    if (one->event.kind != RP_NO && other->event.kind != RP_NO)
        return compare_events(p, &one->event, &other->event);
    return one->event.kind == other->event.kind && same_polls(p) ? RP_SAME : RP_DIFFERS_POLLS;
}

/* Telling */

/* The clocks of a call stand behind its other events. */
static enum rp_status finish_call(struct cursor *c, uint32_t site, struct rp_problem *why)
{
    bool more;
    enum rp_status status = RP_OK;

    for (int i = 0; c->clocked && i < CALL_MOST; i++) {
        status = fill(c, &more, why);
        if (status != RP_OK || !more || c->block[c->at].site != site)
            break;
        struct rp_event event = c->block[c->at];
        if (!learn(c, &event))
            return rp_fail(why, RP_MEMORY, "out of memory");
        c->at++;
        c->number++;
        if (event.kind == RP_CLOCK && rp_clock_left(event.scope) == 0)
            break;
    }
    return status;
}

static char *text_of(struct rp_buffer *buffer)
{
    rp_buffer_byte(buffer, 0);
    char *text = buffer->failed ? NULL : strdup((char *)buffer->bytes);
    rp_buffer_clear(buffer);
    return text;
}

static void put_place(struct rp_naming *naming, const struct rp_site_table *table, uint32_t number,
                      struct rp_buffer *out)
{
    struct rp_site_place place;

    rp_naming_find(naming, table, number, &place);
    rp_site_place_put(out, &place);
}

static enum rp_status tell_side(const struct pair *p, struct cursor *c, const struct unit *unit,
                                struct rp_diff_side *side, struct rp_problem *why)
{
    struct rp_log_end end = rp_log_end(c->log);
    struct rp_buffer text = {0};

    *side = (struct rp_diff_side){.has_event = !unit->is_end,
                                  .number = unit->number,
                                  .event = unit->event,
                                  .thread = unit->thread,
                                  .reason = end.reason,
                                  .code = end.code};
    if (unit->is_end)
        return RP_OK;
    if (unit->event.kind == RP_NO) {
        const struct rp_event *polls = (const struct rp_event *)(const void *)c->polls.bytes;
        side->event.no.times = 0;
        for (size_t i = 0; i < c->polls.length / sizeof *polls; i++)
            side->event.no.times += polls[i].no.times;
    }
    uint32_t site = unit->event.site;
    side->function = strdup(c->sites->sites[site].function);
    put_place(p->naming, c->sites, site, &text);
    side->place = text_of(&text);
    rp_naming_print_site(p->naming, c->sites, site, "", &text);
    side->stack = text_of(&text);
    rp_source_lines_put_frames(rp_naming_lines(p->naming), c->sites, site, &text);
    side->frames = text_of(&text);
    rp_buffer_free(&text);
    side->has_time = rp_log_is_timed(c->log);
    side->time = unit->time;
    enum rp_status status = unit->event.kind == RP_CLOCK && rp_clock_left(unit->event.scope) == 0
                                ? RP_OK
                                : finish_call(c, site, why);
    side->has_clock = c->clocked;
    side->clock = c->clock;
    if (status == RP_OK && !(side->function && side->place && side->stack && side->frames))
        return rp_fail(why, RP_MEMORY, "out of memory");
    return status;
}

static void free_divergence(struct rp_divergence *d)
{
    for (int i = 0; i < 2; i++) {
        free(d->side[i].function);
        free(d->side[i].place);
        free(d->side[i].stack);
        free(d->side[i].frames);
    }
}

static enum rp_status add(struct rp_divergence **list, size_t *count, struct rp_divergence *d,
                          struct rp_problem *why)
{
    struct rp_divergence *more = realloc(*list, (*count + 1) * sizeof *more);

    if (!more) {
        free_divergence(d);
        return rp_fail(why, RP_MEMORY, "out of memory");
    }
    *list = more;
    more[(*count)++] = *d;
    return RP_OK;
}

/* One pass over both logs, up to the first difference. */
static enum rp_status find_difference(struct pair *p, struct rp_divergence *out,
                                      struct rp_problem *why)
{
    struct unit unit[2];
    enum rp_status status;

    *out = (struct rp_divergence){.rank = p->rank, .identity = p->only};
    do {
        status = next_unit(p, &p->side[0], &unit[0], why);
        if (status == RP_OK)
            status = next_unit(p, &p->side[1], &unit[1], why);
        if (status != RP_OK)
            return status;
        out->difference = compare(p, &unit[0], &unit[1]);
    } while (out->difference == RP_SAME && !unit[0].is_end);
    for (int i = 0; i < 2 && status == RP_OK && out->difference != RP_SAME; i++)
        status = tell_side(p, &p->side[i], &unit[i], &out->side[i], why);
    if (status != RP_OK)
        free_divergence(out);
    return status;
}

/* Threads */

static void start_again(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        struct cursor *c = &p->side[i];
        rp_log_rewind(c->log);
        c->count = c->at = 0;
        c->number = 0;
        c->thread = 0;
        c->clock = 0;
    }
}

/* Reads on to the end, for the threads that there are. */
static enum rp_status read_threads(struct cursor *c, struct rp_problem *why)
{
    bool more;
    enum rp_status status;

    while ((status = fill(c, &more, why)) == RP_OK && more)
        for (; c->at < c->count; c->at++)
            if (c->block[c->at].kind == RP_THREAD && !note_identity(c, &c->block[c->at]))
                return rp_fail(why, RP_MEMORY, "out of memory");
    return status;
}

static size_t add_identity(uint64_t *all, size_t count, uint64_t identity)
{
    for (size_t i = 0; i < count; i++)
        if (all[i] == identity)
            return count;
    if (count < THREADS_MOST)
        all[count] = identity;
    return count + 1;
}

static enum rp_status compare_threads(struct pair *p, struct rp_problem *why)
{
    uint64_t all[THREADS_MOST];
    size_t count = 0;
    struct rp_divergence found;
    enum rp_status status = read_threads(&p->side[0], why);

    if (status == RP_OK)
        status = read_threads(&p->side[1], why);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; count <= THREADS_MOST && i < p->side[side].identity_count; i++)
            count = add_identity(all, count, p->side[side].identities[i]);
    if (status != RP_OK || count < 2)
        return status;
    p->diff->threads_left_out += count > THREADS_MOST;
    for (size_t i = 0; status == RP_OK && i < count && i < THREADS_MOST; i++) {
        p->only = all[i];
        start_again(p);
        status = find_difference(p, &found, why);
        if (status == RP_OK && found.difference != RP_SAME)
            status = add(&p->diff->threads, &p->diff->thread_count, &found, why);
    }
    return status;
}

/* Ranks */

static enum rp_status open_side(struct pair *p, int side, struct rp_problem *why)
{
    const struct rp_manifest *m = &p->diff->manifest[side];
    struct cursor *c = &p->side[side];
    enum rp_status status =
        rp_log_open(p->diff->directory[side], m->run, p->rank, m->ranks, &c->log, why);

    if (status != RP_OK)
        return status;
    if (rp_log_has_rows(c->log))
        return rp_fail(why, RP_USAGE,
                       "%s holds rows (codec cdc, gzip or raw), which do not keep the order of "
                       "events: only records of codec mix or tables can be compared",
                       p->diff->directory[side]);
    c->sites = rp_log_site_table(c->log);
    c->clocked = strcmp(m->clocks, "lamport") == 0;
    c->block = malloc(RP_CHUNK_EVENTS_LIMIT * sizeof *c->block);
    c->identities = malloc(sizeof *c->identities);
    if (!c->block || !c->identities)
        return rp_fail(why, RP_MEMORY, "out of memory");
    c->identities[0] = 1; /* that of the thread which the process begins with */
    c->identity_count = 1;
    p->diff->events[side] += rp_log_event_count(c->log);
    return RP_OK;
}

static void close_sides(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        rp_log_free(p->side[i].log);
        free(p->side[i].block);
        free(p->side[i].identities);
        rp_buffer_free(&p->side[i].polls);
    }
    free(p->same_site);
}

static enum rp_status compare_rank(struct rp_diff *diff, struct rp_naming *naming,
                                   bool without_polls, uint32_t rank, struct rp_problem *why)
{
    struct pair p = {.diff = diff, .naming = naming, .rank = rank, .without_polls = without_polls};
    struct rp_divergence found = {0};
    enum rp_status status = open_side(&p, 0, why);

    if (status == RP_OK)
        status = open_side(&p, 1, why);
    if (status == RP_OK &&
        !(p.same_site = calloc(p.side[0].sites->site_count + 1, sizeof *p.same_site)))
        status = rp_fail(why, RP_MEMORY, "out of memory");
    if (status == RP_OK)
        status = find_difference(&p, &found, why);
    if (status == RP_OK && found.difference != RP_SAME) {
        status = add(&diff->ranks, &diff->rank_count, &found, why);
        if (status == RP_OK)
            status = compare_threads(&p, why);
    }
    close_sides(&p);
    return status;
}

/* Which came first */

/* How many sides have an event there: only those with the most can be the first. */
static int events_of(const struct rp_divergence *d)
{
    return d->side[0].has_event + d->side[1].has_event;
}

static int most_events(const struct rp_diff *diff)
{
    int most = 0;

    for (size_t i = 0; i < diff->rank_count; i++)
        most = events_of(&diff->ranks[i]) > most ? events_of(&diff->ranks[i]) : most;
    return most;
}

static size_t count_first(const struct rp_diff *diff, bool (*have)(const struct rp_diff_side *side))
{
    size_t count = 0;

    for (size_t i = 0; i < diff->rank_count; i++)
        count += events_of(&diff->ranks[i]) == most_events(diff) && have(&diff->ranks[i].side[0]) &&
                 have(&diff->ranks[i].side[1]);
    return count;
}

static bool has_any(const struct rp_diff_side *side)
{
    (void)side;
    return true;
}

static bool has_clock(const struct rp_diff_side *side)
{
    return side->has_clock;
}

static bool has_time(const struct rp_diff_side *side)
{
    return side->has_time;
}

static uint64_t order_of(const struct rp_diff_side *side, enum rp_diff_basis basis)
{
    return basis == RP_BY_CLOCKS ? side->clock : basis == RP_BY_TIMES ? side->time : side->number;
}

static bool is_before(const struct rp_divergence *one, const struct rp_divergence *other,
                      enum rp_diff_basis basis)
{
    if (events_of(one) != events_of(other))
        return events_of(one) > events_of(other);
    for (int side = 0; side < 2; side++) {
        uint64_t a = order_of(&one->side[side], basis), b = order_of(&other->side[side], basis);
        if (a != b)
            return a < b;
    }
    return one->side[0].number < other->side[0].number;
}

static bool is_first_on(const struct rp_diff *diff, int side)
{
    uint64_t first = order_of(&diff->ranks[diff->earliest].side[side], diff->basis);

    for (size_t i = 0; i < diff->rank_count; i++)
        if (events_of(&diff->ranks[i]) == most_events(diff) &&
            order_of(&diff->ranks[i].side[side], diff->basis) < first)
            return false;
    return true;
}

static void find_earliest(struct rp_diff *diff)
{
    if (diff->rank_count == 0)
        return;
    size_t count = count_first(diff, has_any);
    diff->basis = count == 1                              ? RP_BY_ONLY
                  : count_first(diff, has_clock) == count ? RP_BY_CLOCKS
                  : count_first(diff, has_time) == count  ? RP_BY_TIMES
                                                          : RP_BY_NONE;
    for (size_t i = 1; i < diff->rank_count; i++)
        if (is_before(&diff->ranks[i], &diff->ranks[diff->earliest], diff->basis))
            diff->earliest = i;
    diff->certain = diff->basis != RP_BY_NONE && is_first_on(diff, 0) && is_first_on(diff, 1);
}

/* Both records */

static enum rp_status open_records(const char *one, const char *other, struct rp_diff *out,
                                   struct rp_problem *why)
{
    const char *names[2] = {one, other};

    for (int i = 0; i < 2; i++) {
        enum rp_status status = rp_manifest_read(names[i], &out->manifest[i], why);
        if (status != RP_OK)
            return status;
        out->directory[i] = strdup(names[i]);
        if (!out->directory[i])
            return rp_fail(why, RP_MEMORY, "out of memory");
    }
    if (out->manifest[0].ranks != out->manifest[1].ranks)
        return rp_fail(why, RP_USAGE,
                       "%s has %u ranks, %s has %u: only runs with as many can be compared", one,
                       out->manifest[0].ranks, other, out->manifest[1].ranks);
    out->same_callers = strcmp(out->manifest[0].wrappers, out->manifest[1].wrappers) == 0;
    out->same_program = strcmp(out->manifest[0].build_id, out->manifest[1].build_id) == 0;
    return RP_OK;
}

enum rp_status rp_diff_collect(const char *one, const char *other, bool without_polls,
                               struct rp_diff *out, struct rp_problem *why)
{
    memset(out, 0, sizeof *out);
    enum rp_status status = open_records(one, other, out, why);
    struct rp_naming *naming = status == RP_OK ? rp_naming_open(out->manifest[0].wrappers) : NULL;

    for (int i = 0; naming && i < 2; i++)
        rp_learn_callers(naming, out->directory[i], &out->manifest[i]);
    for (uint32_t rank = 0; status == RP_OK && rank < out->manifest[0].ranks; rank++)
        status = compare_rank(out, naming, without_polls, rank, why);
    rp_naming_close(naming);
    if (status == RP_OK)
        find_earliest(out);
    else
        rp_diff_free(out);
    return status;
}

void rp_diff_free(struct rp_diff *diff)
{
    for (size_t i = 0; i < diff->rank_count; i++)
        free_divergence(&diff->ranks[i]);
    for (size_t i = 0; i < diff->thread_count; i++)
        free_divergence(&diff->threads[i]);
    free(diff->ranks);
    free(diff->threads);
    for (int i = 0; i < 2; i++) {
        rp_manifest_free(&diff->manifest[i]);
        free(diff->directory[i]);
    }
    memset(diff, 0, sizeof *diff);
}
