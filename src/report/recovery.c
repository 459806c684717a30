/* SPDX-License-Identifier: MIT */
/*
 * Recoveries from the events of a run of `reprise ft`. All processes take part in every recovery,
 * so that each counts them alike: what has the same number belongs together. A recovery without a
 * replacement is the end of the program, or that of a spare, and is left out.
 */
#include "report/recovery.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

enum { EVENTS_MOST = 1 << 28 /* bytes */, RANKS_MOST = 1 << 20 };
static const int64_t time_most = INT64_C(1) << 56; /* microseconds since 1970: two thousand years */

struct event {
    int64_t time, number; /* of the recovery */
    int rank;
    const struct rp_json *json;
    const char *what;
};

struct events {
    struct event *at;
    size_t count, room;
    struct rp_json **lines;
};

static int64_t number_of(const struct event *event, const char *key)
{
    const struct rp_json *member = rp_json_member(event->json, key, RP_JSON_NUMBER);

    return member ? member->number : -1;
}

static const char *string_of(const struct event *event, const char *key)
{
    const struct rp_json *member = rp_json_member(event->json, key, RP_JSON_STRING);

    return member ? member->string : "";
}

static bool is(const struct event *event, const char *what, int64_t number)
{
    return strcmp(event->what, what) == 0 && event->number == number;
}

/* A spare has no rank: -1. What has no member of that name has none either. */
static bool is_rank(int64_t number)
{
    return number >= -1 && number < RANKS_MOST;
}

static enum rp_status check(const struct event *event, struct rp_problem *why)
{
    int64_t rank = number_of(event, "rank"), dead = number_of(event, "dead");

    if (event->time < 0 || event->number < 0 || !*event->what)
        return rp_fail(why, RP_DAMAGED, "'time', 'recovery' or 'event' is missing");
    if (event->time > time_most)
        return rp_fail(why, RP_DAMAGED, "%lld is no time", (long long)event->time);
    if (!is_rank(rank) || !is_rank(dead))
        return rp_fail(why, RP_DAMAGED, "%lld is no rank",
                       (long long)(is_rank(rank) ? dead : rank));
    return RP_OK;
}

static enum rp_status add_line(struct events *events, const char *text, size_t length,
                               struct rp_problem *why)
{
    struct rp_json *json;
    enum rp_status status = rp_json_parse(text, length, &json, why);

    if (status != RP_OK)
        return status;
    if (events->count == events->room) {
        events->room = 2 * events->room + 64;
        struct event *at = realloc(events->at, events->room * sizeof *at);
        events->at = at ? at : events->at;
        struct rp_json **lines =
            at ? realloc(events->lines, events->room * sizeof(struct rp_json *)) : NULL;
        events->lines = lines ? lines : events->lines;
        if (!lines) {
            rp_json_free(json);
            return rp_fail(why, RP_MEMORY, "out of memory");
        }
    }
    struct event event = {.json = json};
    event.what = string_of(&event, "event");
    event.time = number_of(&event, "time");
    event.rank = (int)number_of(&event, "rank");
    event.number = number_of(&event, "recovery");
    events->lines[events->count] = json;
    events->at[events->count++] = event;
    return check(&event, why);
}

static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    return (x->time > y->time) - (x->time < y->time);
}

static void free_events(struct events *events)
{
    for (size_t i = 0; i < events->count; i++)
        rp_json_free(events->lines[i]);
    free(events->lines);
    free(events->at);
}

static char *path_in(const char *directory)
{
    return rp_path_join(directory, "events.jsonl");
}

static enum rp_status read_events(const char *directory, struct events *events,
                                  struct rp_problem *why)
{
    struct rp_buffer text = {0};
    struct rp_problem line_why;
    char *path = path_in(directory);
    enum rp_status status = path ? rp_read_file(path, EVENTS_MOST, &text, why)
                                 : rp_fail(why, RP_MEMORY, "out of memory");
    size_t line = 1;

    for (size_t at = 0, end; status == RP_OK && at < text.length; at = end + 1, line++) {
        const uint8_t *newline = memchr(text.bytes + at, '\n', text.length - at);
        end = newline ? (size_t)(newline - text.bytes) : text.length;
        status = add_line(events, (const char *)text.bytes + at, end - at, &line_why);
        if (status != RP_OK)
            status = rp_fail(why, status == RP_MEMORY ? status : RP_DAMAGED, "%s, line %zu: %s",
                             path, line, line_why.text);
    }
    if (status == RP_OK && events->count == 0)
        status = rp_fail(why, RP_DAMAGED, "%s: there is no event", path);
    if (status == RP_OK) {
        qsort(events->at, events->count, sizeof *events->at, by_time);
        for (size_t i = events->count; i-- > 0;)
            events->at[i].time -= events->at[0].time;
    }
    free(path);
    rp_buffer_free(&text);
    return status;
}

/* The first event of this kind on the rank, at this time or later; -1: none. */
static int64_t time_of_next(const struct events *events, const char *what, int rank, int64_t since,
                            const struct event **out)
{
    for (size_t i = 0; i < events->count; i++)
        if (strcmp(events->at[i].what, what) == 0 && events->at[i].rank == rank &&
            events->at[i].time >= since) {
            if (out)
                *out = &events->at[i];
            return events->at[i].time;
        }
    return -1;
}

static int64_t time_of_kill(const struct events *events, int rank, int64_t before)
{
    int64_t time = -1;

    for (size_t i = 0; i < events->count && events->at[i].time <= before; i++)
        if (strcmp(events->at[i].what, "killed") == 0 && events->at[i].rank == rank)
            time = events->at[i].time;
    return time;
}

/* All processes leave the meeting together, but some may write their event late. */
static int64_t time_of_meeting(const struct events *events, int64_t number)
{
    for (size_t i = 0; i < events->count; i++)
        if (is(&events->at[i], "resumed", number) || is(&events->at[i], "replaced", number))
            return events->at[i].time;
    return -1;
}

static void add_death(struct rp_incident *incident, const struct events *events,
                      const struct event *event)
{
    const struct event *restored = NULL;
    struct rp_death death = {.rank = (int)number_of(event, "dead"),
                             .replaced = time_of_meeting(events, event->number),
                             .generation = number_of(event, "generation"),
                             .iteration = -1};

    death.is_global = strcmp(string_of(event, "rollback"), "global") == 0;
    death.killed = time_of_kill(events, death.rank, death.replaced);
    death.restored = time_of_next(events, "restored", death.rank, death.replaced, &restored);
    death.caught_up = time_of_next(events, "caught_up", death.rank, death.replaced, NULL);
    if (restored)
        death.iteration = number_of(restored, "iteration");
    incident->deaths[incident->death_count++] = death;
}

static void note_detection(struct rp_incident *incident, const struct event *event)
{
    if (event->rank < 0)
        return;
    if (!incident->call) {
        incident->call = strdup(string_of(event, "call"));
        incident->detected = event->time;
        incident->first_rank = event->rank;
        incident->iteration = number_of(event, "iteration");
    }
    incident->idles[incident->idle_count++] = (struct rp_idle){event->rank, event->time, -1};
}

/* Room for all: each event makes one entry at most. */
static bool fill(struct rp_incident *incident, const struct events *events, int64_t number)
{
    *incident = (struct rp_incident){.deaths = calloc(events->count, sizeof(struct rp_death)),
                                     .idles = calloc(events->count, sizeof(struct rp_idle)),
                                     .detected = -1,
                                     .resumed = -1,
                                     .first_rank = -1};
    if (!incident->deaths || !incident->idles)
        return false;
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->at[i];
        if (is(event, "detected", number))
            note_detection(incident, event);
        else if (is(event, "replaced", number))
            add_death(incident, events, event);
        else if (is(event, "resumed", number))
            incident->resumed = event->time;
        for (size_t k = 0; k < incident->idle_count && is(event, "went_on", number); k++)
            if (incident->idles[k].rank == event->rank)
                incident->idles[k].until = event->time;
    }
    return true;
}

static void free_incident(struct rp_incident *incident)
{
    free(incident->call);
    free(incident->deaths);
    free(incident->idles);
}

bool rp_recovery_is_here(const char *directory)
{
    char *path = path_in(directory);
    bool is_here = path && access(path, F_OK) == 0;

    free(path);
    return is_here;
}

enum rp_status rp_recovery_collect(const char *directory, struct rp_recovery *out,
                                   struct rp_problem *why)
{
    struct events events = {0};
    enum rp_status status = read_events(directory, &events, why);
    int64_t most = 0;

    *out = (struct rp_recovery){.directory = strdup(directory)};
    for (size_t i = 0; i < events.count && status == RP_OK; i++) {
        int64_t dead = number_of(&events.at[i], "dead"),
                last = dead > events.at[i].rank ? dead : events.at[i].rank;
        out->ranks = last >= out->ranks ? (int)last + 1 : out->ranks;
        most = strcmp(events.at[i].what, "replaced") == 0 && events.at[i].number > most
                   ? events.at[i].number
                   : most;
        out->duration = events.at[i].time;
    }
    if (status == RP_OK && most > (int64_t)events.count)
        status = rp_fail(why, RP_DAMAGED, "%s: recovery %lld of %zu events", directory,
                         (long long)most, events.count);
    if (status == RP_OK)
        out->incidents = calloc((size_t)most + 1, sizeof *out->incidents);
    for (int64_t number = 1; number <= most && status == RP_OK && out->incidents; number++) {
        struct rp_incident *incident = &out->incidents[out->count];
        if (!fill(incident, &events, number))
            status = rp_fail(why, RP_MEMORY, "out of memory");
        if (status == RP_OK && incident->death_count > 0)
            out->count++;
        else
            free_incident(incident);
    }
    if (status == RP_OK && (!out->incidents || !out->directory))
        status = rp_fail(why, RP_MEMORY, "out of memory");
    if (status != RP_OK)
        rp_recovery_free(out);
    free_events(&events);
    return status;
}

void rp_recovery_free(struct rp_recovery *recovery)
{
    for (size_t i = 0; i < recovery->count; i++)
        free_incident(&recovery->incidents[i]);
    free(recovery->incidents);
    free(recovery->directory);
    memset(recovery, 0, sizeof *recovery);
}
