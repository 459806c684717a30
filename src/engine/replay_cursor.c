/* SPDX-License-Identifier: MIT */
#include "engine/replay_cursor.h"

#include <stdlib.h>

#include "base/diagnostics.h"
#include "engine/gdb_hooks.h"
#include "engine/rank.h"
#include "entry/thread_state.h"
#include "interpose/capture.h"
#include "reprise.h"

static struct {
    struct rp_log *log;
    struct rp_matcher *matcher;
    uint64_t last_posts; /* receives that were posted up to the event before */
    uint64_t digest;
} cursor;

#define U64(x) ((unsigned long long)(x))

__attribute__((noreturn)) static void log_failed(const struct rp_problem *why)
{
    rp_error("%s", why->text);
    rp_rank_give_up(RP_RANK_FAILED, REPRISE_EXIT_DAMAGED);
}

const struct rp_event *rp_cursor_front(void)
{
    const struct rp_event *event;
    struct rp_problem why;

    if (rp_matcher_peek(cursor.matcher, &event, &why) != RP_OK)
        log_failed(&why);
    return event;
}

const struct rp_event *rp_cursor_ahead(size_t k)
{
    const struct rp_event *event;
    struct rp_problem why;

    if (rp_matcher_ahead(cursor.matcher, k, &event, &why) != RP_OK)
        log_failed(&why);
    return event;
}

const struct rp_event *rp_cursor_loaded(size_t k)
{
    return rp_matcher_look(cursor.matcher, k);
}

const struct rp_event *rp_cursor_whole_front(void)
{
    const struct rp_event *event = rp_cursor_front();

    if (event && event->kind == RP_YES && event->yes.count > 1 &&
        !rp_cursor_ahead((size_t)event->yes.count - 1))
        return NULL;
    return event ? rp_cursor_front() : NULL; /* looking ahead may move it */
}

/* Using events up */

static void show_place(void)
{
    const struct rp_event *next = rp_cursor_loaded(0);

    rp_gdb_hook_place(rp_cursor_position(), next, next ? rp_cursor_function(next) : NULL);
}

void rp_cursor_use(const struct rp_event *event)
{
    cursor.digest = rp_digest(cursor.digest, event);
    rp_matcher_take(cursor.matcher);
    atomic_store_explicit(&rp_rank.slot->done, rp_cursor_position(), memory_order_relaxed);
    show_place();
    reprise_event();
}

void rp_cursor_use_note(const struct rp_event *event)
{
    cursor.last_posts += event->posts;
    rp_cursor_use(event);
}

void rp_cursor_use_event(const struct rp_event *event)
{
    cursor.last_posts = rp_state.posts;
    rp_cursor_use(event);
}

/* What was found out about receives between two calls has no call of its own, and neither have the
 * clocks of messages. */
void rp_cursor_skip_notes(void)
{
    for (const struct rp_event *event = rp_cursor_front();
         event && (event->kind == RP_FREED || event->kind == RP_CLOCK); event = rp_cursor_front())
        rp_cursor_use_note(event);
}

void rp_cursor_take(const struct rp_event *event)
{
    rp_cursor_use_event(event);
    rp_cursor_skip_notes();
}

enum rp_status rp_cursor_skip_early_values(struct rp_problem *why)
{
    uint64_t passed = 0;

    for (const struct rp_event *event = rp_cursor_front();
         event && event->kind == RP_VALUE && event->scope == 1; event = rp_cursor_front()) {
        rp_cursor_use(event);
        passed++;
    }
    if (passed == rp_capture_early_told())
        return RP_OK;
    return rp_fail(why, RP_DIVERGED,
                   "the program asked for %llu captured values before MPI_Init, recorded are %llu",
                   U64(rp_capture_early_told()), U64(passed));
}

/* What is known of the record */

uint64_t rp_cursor_total(void)
{
    return rp_log_event_count(cursor.log);
}

uint64_t rp_cursor_posts(void)
{
    return rp_state.posts - cursor.last_posts;
}

uint64_t rp_cursor_position(void)
{
    return rp_matcher_position(cursor.matcher);
}

uint64_t rp_cursor_digest(void)
{
    return cursor.digest;
}

bool rp_cursor_match(uint64_t post, struct rp_match *out)
{
    return rp_matcher_find(cursor.matcher, post, out);
}

const struct rp_site_table *rp_cursor_sites(void)
{
    return rp_log_site_table(cursor.log);
}

const char *rp_cursor_function(const struct rp_event *event)
{
    return rp_cursor_sites()->sites[event->site].function;
}

struct rp_log_end rp_cursor_end(void)
{
    return rp_log_end(cursor.log);
}

bool rp_cursor_ends_in_finalize(void)
{
    return rp_log_end(cursor.log).reason == RP_END_FINALIZE;
}

const char *rp_cursor_log_name(void)
{
    return rp_log_name(cursor.log);
}

/* The start */

static enum rp_status next_block(void *owner, struct rp_event *events, size_t *count,
                                 struct rp_problem *why)
{
    return rp_log_next_block(owner, events, count, why);
}

static enum rp_status open_matcher(struct rp_problem *why)
{
    struct rp_late *late = NULL;
    struct rp_match *matches = NULL;
    size_t count = 0;
    struct rp_block_source source = {next_block, cursor.log, RP_CHUNK_EVENTS_LIMIT};
    enum rp_status status = rp_log_late(cursor.log, &late, &count, why);

    if (status != RP_OK)
        return status;
    matches = malloc((count + 1) * sizeof *matches);
    for (size_t i = 0; matches && i < count; i++)
        matches[i] = (struct rp_match){late[i].post, late[i].kind, late[i].source, late[i].tag};
    status = matches ? rp_matcher_create(source, matches, count, &cursor.matcher, why)
                     : rp_fail(why, RP_MEMORY, "out of memory");
    free(late);
    free(matches);
    return status;
}

enum rp_status rp_cursor_open(struct rp_problem *why)
{
    const struct rp_session *session = &rp_rank.session;
    enum rp_status status = rp_log_open(session->directory, session->run, (uint32_t)session->rank,
                                        (uint32_t)session->ranks, &cursor.log, why);

    cursor.digest = RP_DIGEST_START;
    return status == RP_OK ? open_matcher(why) : status;
}
