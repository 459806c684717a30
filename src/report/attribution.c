/* SPDX-License-Identifier: MIT */
/*
 * The accesses of all ranks are brought together: each gets the times between which it was, from
 * the marks of its rank's order log, and goes to the memory that it is about. Windows of different
 * ranks are the same if they have the same members, and as many windows of these members were made
 * before.
 */
#include "report/attribution.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/json.h"
#include "job/settings.h"
#include "base/text.h"
#include "event/naming.h"
#include "log/accesslog.h"
#include "log/datareader.h"
#include "log/order_log.h"
#include "report/write_index.h"

#define U64(x) ((unsigned long long)(x))

struct window {
    const struct rp_order_log_members *members;
    size_t nth;                     /* of those with these members */
    struct rp_write_index **memory; /* of each member, or NULL */
};

struct local {
    size_t global; /* + 1; 0: its members are not known */
    uint64_t unit;
    bool made, untold, dynamic;
};

/* What is known of one rank. */
struct source {
    bool is_there;
    uint32_t rank, host;
    struct rp_access_log log;
    struct rp_order_log order;
    struct local *local;         /* its windows */
    uint64_t *end;               /* of each write and store */
    struct rp_source_line *line; /* of each site; without a file: unknown */
    bool *looked_up;
};

struct rp_who {
    struct source *source;
    uint32_t ranks;
    struct window *window;
    size_t windows;
    struct rp_naming *naming;
};

/* Windows */

static bool same_members(const struct rp_order_log_members *one,
                         const struct rp_order_log_members *other)
{
    return one->count == other->count &&
           (one->count == 0 || memcmp(one->rank, other->rank, one->count * sizeof *one->rank) == 0);
}

/* Its number + 1, or 0 without memory. */
static size_t global_window(struct rp_who *who, const struct rp_order_log *order, size_t number)
{
    const struct rp_order_log_members *members = &order->window[number];
    size_t nth = 0;

    for (size_t i = 0; i < number; i++)
        nth += same_members(&order->window[i], members);
    for (size_t i = 0; i < who->windows; i++)
        if (who->window[i].nth == nth && same_members(who->window[i].members, members))
            return i + 1;
    if (!rp_array_grow((void **)&who->window, who->windows, sizeof *who->window))
        return 0;
    struct window w = {members, nth, calloc(members->count + 1, sizeof *w.memory)};
    who->window[who->windows++] = w;
    return w.memory ? who->windows : 0;
}

static bool name_windows(struct rp_who *who, struct source *s)
{
    s->local = calloc(s->order.windows + 1, sizeof *s->local);
    for (size_t i = 0; s->local && i < s->order.windows; i++)
        if (!(s->local[i].global = global_window(who, &s->order, i)))
            return false;
    for (size_t i = 0; s->local && i < s->log.count; i++) {
        const struct rp_access *a = &s->log.access[i];
        if (a->kind == RP_ACCESS_WINDOW && a->window < s->order.windows) {
            s->local[a->window].unit = a->unit;
            s->local[a->window].untold = a->flavor == RP_ACCESS_UNTOLD;
            s->local[a->window].dynamic = a->flavor == RP_ACCESS_DYNAMIC;
            s->local[a->window].made = true;
        }
    }
    return s->local != NULL;
}

/* The window as its owner sees it, or NULL. */
static const struct local *owners_view(const struct rp_who *who, size_t global, uint32_t owner)
{
    const struct source *s = owner < who->ranks ? &who->source[owner] : NULL;

    for (size_t i = 0; s && s->is_there && i < s->order.windows; i++)
        if (s->local[i].global == global && s->local[i].made)
            return &s->local[i];
    return NULL;
}

static struct rp_write_index **memory_of(const struct rp_who *who, size_t global, uint32_t owner)
{
    const struct window *w = &who->window[global - 1];

    for (size_t i = 0; i < w->members->count; i++)
        if (w->members->rank[i] == owner)
            return &w->memory[i];
    return NULL;
}

/* Accesses */

static bool is_write(const struct rp_access *a)
{
    return a->kind == RP_ACCESS_WRITE || a->kind == RP_ACCESS_STORE || a->kind == RP_ACCESS_DIRECT;
}

static bool is_read(const struct rp_access *a)
{
    return a->kind == RP_ACCESS_READ || a->kind == RP_ACCESS_CHANGE || a->kind == RP_ACCESS_LOAD;
}

static uint64_t later(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

static uint64_t sooner(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* Loads and stores of a tracked program are between two calls, and between two loads whose time is
 * known. A processor makes them a little sooner or later than it reads the clock. */

enum { BLUR = 64 };

static bool is_timed(const struct rp_access *a)
{
    return a->kind == RP_ACCESS_LOAD || a->kind == RP_ACCESS_DIRECT;
}

static uint64_t begin_of(const struct source *s, const struct rp_access *a)
{
    uint64_t time = rp_order_log_before(&s->order, a->from);

    if (!is_timed(a))
        return time;
    time = later(time, rp_order_log_before_load(&s->order, a->load));
    return time > BLUR ? time - BLUR : 0;
}

static uint64_t timed_end(const struct source *s, const struct rp_access *a)
{
    uint64_t time = sooner(rp_order_log_after(&s->order, a->until),
                           rp_order_log_after_load(&s->order, a->load));

    return time < UINT64_MAX - BLUR ? time + BLUR : time;
}

/* When each write was certainly done. */
static bool find_ends(struct source *s)
{
    size_t *open = NULL, opened = 0;
    bool room = true;

    s->end = malloc((s->log.count + 1) * sizeof *s->end);
    for (size_t i = 0; s->end && room && i < s->log.count; i++) {
        const struct rp_access *a = &s->log.access[i];
        s->end[i] = is_timed(a) ? timed_end(s, a) : UINT64_MAX;
        if (is_write(a) && !is_timed(a)) {
            room = rp_array_grow((void **)&open, opened, sizeof *open);
            if (room)
                open[opened++] = i;
        } else if (a->kind == RP_ACCESS_DONE || a->kind == RP_ACCESS_OUT) {
            uint64_t time = rp_order_log_after(&s->order, a->until);
            size_t left = 0;
            for (size_t k = 0; k < opened; k++) {
                const struct rp_access *w = &s->log.access[open[k]];
                bool done =
                    w->window == a->window &&
                    (w->kind == RP_ACCESS_STORE) == (a->kind == RP_ACCESS_OUT) &&
                    (a->kind == RP_ACCESS_OUT || a->owner == RP_ACCESS_ALL || a->owner == w->owner);
                if (done)
                    s->end[open[k]] = time;
                else
                    open[left++] = open[k];
            }
            opened = left;
        }
    }
    free(open);
    s->line = calloc(s->log.sites.site_count + 1, sizeof *s->line);
    s->looked_up = calloc(s->log.sites.site_count + 1, sizeof *s->looked_up);
    return room && s->end && s->line && s->looked_up;
}

/* The memory that an access is about, and where and when; false: that cannot be said. */
static bool place(const struct rp_who *who, const struct source *s, size_t i,
                  struct rp_write_index ***memory, struct rp_touch *touch)
{
    const struct rp_access *a = &s->log.access[i];

    if (a->window >= s->order.windows || !s->local[a->window].made || s->local[a->window].untold ||
        a->length == 0)
        return false;
    const struct local *local = &s->local[a->window],
                       *view = owners_view(who, local->global, a->owner);
    uint64_t unit = a->kind != RP_ACCESS_WRITE && a->kind != RP_ACCESS_READ ? 1
                    : view                                                  ? view->unit
                                                                            : local->unit;
    bool initial = a->kind == RP_ACCESS_STORE && a->from == 0;
    *memory = memory_of(who, local->global, a->owner);
    *touch = (struct rp_touch){.rank = s->rank,
                               .host = s->host,
                               .at = (uint64_t)a->place * unit + a->shift,
                               .length = a->length,
                               .value = a->known ? a->value : NULL,
                               .mask = a->kind == RP_ACCESS_STORE ? a->mask : NULL,
                               .begin = initial ? 0 : begin_of(s, a),
                               .direct = is_timed(a),
                               .number = a->kind == RP_ACCESS_STORE ? 0 : a->number + 1,
                               .tag = a};
    touch->end = initial                      ? 0
                 : is_write(a) || is_timed(a) ? s->end[i]
                                              : rp_order_log_after(&s->order, a->until);
    return *memory && a->place >= 0 && touch->at + touch->length > touch->at &&
           (touch->value || is_write(a));
}

static bool add_accesses(struct rp_who *who, const struct source *s)
{
    struct rp_write_index **memory;
    struct rp_touch touch;

    for (size_t i = 0; i < s->log.count; i++) {
        const struct rp_access *a = &s->log.access[i];
        if ((!is_read(a) && !is_write(a)) || !place(who, s, i, &memory, &touch))
            continue;
        if (!*memory)
            *memory = rp_write_index_new(a->owner, !s->local[a->window].dynamic &&
                                                       owners_view(who, s->local[a->window].global,
                                                                   a->owner) != NULL);
        if (!*memory || !rp_write_index_add(*memory, &touch, is_write(a)))
            return false;
    }
    return true;
}

/* Opening */

static enum rp_status host_of(const char *directory, const struct rp_manifest *m, uint32_t rank,
                              char **host, struct rp_problem *why)
{
    struct rp_data_reader *reader;
    enum rp_status status = rp_data_open(directory, m->run, rank, m->ranks, &reader, why);

    if (status != RP_OK)
        return status;
    *host = strdup(rp_data_place(reader)->host);
    rp_data_free(reader);
    return *host ? RP_OK : rp_fail(why, RP_MEMORY, "out of memory");
}

static bool has_accesses(const char *directory, uint32_t rank)
{
    char *path = rp_access_path(directory, rank);
    bool is_there = path && access(path, F_OK) == 0;

    free(path);
    return is_there;
}

static enum rp_status open_source(const char *directory, const struct rp_manifest *m, uint32_t rank,
                                  struct source *s, struct rp_problem *why)
{
    enum rp_status status = rp_access_read(directory, m->run, rank, &s->log, why);

    if (status != RP_OK)
        return status;
    s->is_there = true;
    s->rank = rank;
    status = rp_order_log_read(directory, m->run, rank, &s->order, why);
    return status == RP_USAGE && s->log.count == 0 ? RP_OK : status; /* it made no window */
}

static enum rp_status open_sources(const char *directory, const struct rp_manifest *m,
                                   struct rp_who *who, struct rp_problem *why)
{
    char **host = calloc(m->ranks + 1, sizeof *host);
    enum rp_status status = host ? RP_OK : rp_fail(why, RP_MEMORY, "out of memory");
    size_t found = 0;

    for (uint32_t i = 0; i < m->ranks && status == RP_OK; i++) {
        if (!has_accesses(directory, i))
            continue;
        found++;
        status = open_source(directory, m, i, &who->source[i], why);
        if (status == RP_OK)
            status = host_of(directory, m, i, &host[i], why);
        for (uint32_t k = 0; k <= i && status == RP_OK; k++)
            if (host[k] && strcmp(host[k], host[i]) == 0) {
                who->source[i].host = k;
                break;
            }
    }
    for (uint32_t i = 0; host && i < m->ranks; i++)
        free(host[i]);
    free(host);
    if (status == RP_OK && found == 0)
        status = rp_fail(why, RP_USAGE,
                         "%s has no accesses of any rank: 'reprise solo -r RANKS --who' makes "
                         "them, of ranks that were recorded with --ranks",
                         directory);
    return status;
}

static bool bring_together(struct rp_who *who)
{
    for (uint32_t i = 0; i < who->ranks; i++)
        if (who->source[i].is_there &&
            !(name_windows(who, &who->source[i]) && find_ends(&who->source[i])))
            return false;
    for (uint32_t i = 0; i < who->ranks; i++)
        if (who->source[i].is_there && !add_accesses(who, &who->source[i]))
            return false;
    for (size_t i = 0; i < who->windows; i++)
        for (size_t k = 0; k < who->window[i].members->count; k++)
            if (who->window[i].memory[k] && !rp_write_index_ready(who->window[i].memory[k]))
                return false;
    return true;
}

enum rp_status rp_attribution_open(const char *directory, const struct rp_manifest *m,
                                   struct rp_who **out, struct rp_problem *why)
{
    struct rp_who *who = calloc(1, sizeof *who);

    if (!who || !(who->source = calloc(m->ranks + 1, sizeof *who->source))) {
        free(who);
        return rp_fail(why, RP_MEMORY, "out of memory");
    }
    who->ranks = m->ranks;
    enum rp_status status = open_sources(directory, m, who, why);
    if (status == RP_OK && !bring_together(who))
        status = rp_fail(why, RP_MEMORY, "out of memory");
    if (status != RP_OK) {
        rp_attribution_free(who);
        return status;
    }
    who->naming = rp_naming_open(m->wrappers);
    for (uint32_t i = 0; i < who->ranks; i++)
        if (who->source[i].is_there)
            rp_naming_learn(who->naming, &who->source[i].log.sites);
    *out = who;
    return RP_OK;
}

void rp_attribution_free(struct rp_who *who)
{
    for (size_t i = 0; i < who->windows; i++) {
        for (size_t k = 0; who->window[i].memory && k < who->window[i].members->count; k++)
            rp_write_index_free(who->window[i].memory[k]);
        free(who->window[i].memory);
    }
    for (uint32_t i = 0; i < who->ranks; i++) {
        struct source *s = &who->source[i];
        if (s->is_there)
            rp_access_free(&s->log);
        rp_order_log_free(&s->order);
        free(s->local);
        free(s->end);
        free(s->line);
        free(s->looked_up);
    }
    rp_naming_close(who->naming);
    free(who->window);
    free(who->source);
    free(who);
}

/* Printing */

struct print {
    struct rp_who *who;
    const struct source *source;
    const struct rp_access *access;
    uint64_t at; /* where the access begins */
    struct rp_buffer text;
    struct rp_attribution_counts *counts;
    bool json;
};

static const struct rp_source_line *line_of(const struct rp_who *who, const struct source *s,
                                            uint32_t site)
{
    struct rp_source_line *line = &s->line[site];
    struct rp_site_place place;

    if (!s->looked_up[site]) {
        rp_naming_find(who->naming, &s->log.sites, site, &place);
        *line = place.spot.line;
    }
    s->looked_up[site] = true;
    return line;
}

static void put_place(struct print *p, const struct source *s, const struct rp_access *a,
                      const char *text, const char *file, const char *line)
{
    const struct rp_source_line *found = a->site ? line_of(p->who, s, a->site - 1) : NULL;

    if (!found || !found->file)
        return;
    if (!p->json) {
        rp_buffer_printf(&p->text, "%s%s:%d", text, found->file, found->line);
        return;
    }
    rp_buffer_printf(&p->text, ", \"%s\": ", file);
    rp_json_put_string(&p->text, found->file);
    rp_buffer_printf(&p->text, ", \"%s\": %d", line, found->line);
}

/* The bytes in their order; long ones not to the end. */
static void put_value(struct print *p, const uint8_t *value, uint64_t length)
{
    uint64_t most = p->json ? 4096 : 16;

    rp_buffer_printf(&p->text, p->json ? ", \"value\": \"" : " value=");
    for (uint64_t i = 0; i < length && i < most; i++)
        rp_buffer_printf(&p->text, "%02x", value[i]);
    rp_buffer_printf(&p->text, "%s%s", length > most ? "..." : "", p->json ? "\"" : "");
}

static void begin(struct print *p, uint64_t at, uint64_t length)
{
    const struct rp_access *a = p->access;
    bool call = a->kind == RP_ACCESS_READ, load = a->kind == RP_ACCESS_LOAD;

    rp_buffer_printf(
        &p->text,
        p->json
            ? "{\"rank\": %u, \"call\": %llu, \"kind\": \"%s\", \"function\": \"%s\", \"access\": "
              "%llu, \"window\": %u, \"owner\": %u, \"offset\": %llu, \"bytes\": %llu"
            : "%u %llu %s %s access=%llu window=%u owner=%u offset=%llu bytes=%llu",
        p->source->rank, U64(load ? a->from : a->until + call),
        call   ? "READ"
        : load ? "LOAD"
               : "CHANGE",
        a->function, U64(a->number), a->window, a->owner, U64(at), U64(length));
    if (load)
        rp_buffer_printf(&p->text, p->json ? ", \"load\": %llu" : " load=%llu", U64(a->load));
    put_place(p, p->source, a, " at=", "file", "line");
    if (a->known)
        put_value(p, a->value + (at - p->at), length);
}

static void end(struct print *p)
{
    rp_buffer_printf(&p->text, p->json ? "}\n" : "\n");
    p->counts->parts++;
}

static void put_ranks(struct print *p, const struct rp_write_part *part)
{
    rp_buffer_printf(&p->text, p->json ? ", \"possible\": [" : " possible=");
    for (size_t i = 0; i < part->ranks; i++)
        rp_buffer_printf(&p->text, "%s%u", i ? (p->json ? ", " : ",") : "", part->rank[i]);
    if (p->json)
        rp_buffer_printf(&p->text, "]");
}

static void put_writer(struct print *p, const struct rp_write_part *part)
{
    uint32_t rank = part->best ? part->best->rank : p->access->owner;
    const struct rp_access *a = part->best ? part->best->tag : NULL;

    rp_buffer_printf(&p->text, p->json ? ", \"writer\": %u, \"how\": \"%s\"" : " writer=%u how=%s",
                     rank,
                     !a || (a->kind == RP_ACCESS_STORE && a->from == 0) ? "first"
                     : a->kind == RP_ACCESS_WRITE                       ? "call"
                                                                        : "store");
    if (a) {
        rp_buffer_printf(&p->text,
                         p->json ? ", \"by\": \"%s\", \"after\": %llu" : " by=%s after=%llu",
                         a->function, U64(a->from));
        put_place(p, &p->who->source[rank], a, " written=", "written_file", "written_line");
    }
    if (part->ranks > 1)
        put_ranks(p, part);
}

static void put_part(void *data, const struct rp_write_part *part)
{
    struct print *p = data;

    begin(p, part->at, part->length);
    if (part->ranks == 0)
        rp_buffer_printf(&p->text,
                         p->json ? ", \"writer\": null, \"how\": \"outside\"" : " writer=outside");
    else
        put_writer(p, part);
    end(p);
    p->counts->inside += part->ranks == 1;
    p->counts->outside += part->ranks == 0;
    p->counts->several += part->ranks > 1;
}

static void put_unknown(struct print *p)
{
    begin(p, p->access->shift, p->access->length);
    rp_buffer_printf(&p->text,
                     p->json ? ", \"writer\": null, \"how\": \"untold\"" : " writer=untold");
    end(p);
    p->counts->untold++;
}

static bool flush(struct print *p, FILE *out)
{
    bool done = !p->text.failed && rp_text_print(out, p->text.bytes, p->text.length);

    rp_buffer_clear(&p->text);
    return done;
}

/* Which writes each read of a rank may have seen. The paper's write check log (OPR: Deterministic
 * Group Replay) is not made: the reads are matched here, after the replay. */
static bool attribute_reads(struct print *p, FILE *out)
{
    struct rp_write_index **memory;
    struct rp_touch touch;

    for (size_t i = 0; i < p->source->log.count; i++) {
        p->access = &p->source->log.access[i];
        if (!is_read(p->access))
            continue;
        p->counts->reads += p->access->shift == 0;
        bool is_placed = place(p->who, p->source, i, &memory, &touch);
        p->at = is_placed ? touch.at : p->access->shift;
        if (is_placed)
            rp_write_index_find(*memory, &touch, put_part, p);
        else
            put_unknown(p);
        if (p->text.length > 1 << 16 && !flush(p, out))
            return false;
    }
    return flush(p, out);
}

enum rp_status rp_attribution_print(struct rp_who *who, const char *ranks, bool json, FILE *out,
                                    struct rp_attribution_counts *counts, struct rp_problem *why)
{
    struct print p = {.who = who, .counts = counts, .json = json};
    bool written = true;

    *counts = (struct rp_attribution_counts){0};
    for (uint32_t i = 0; i < who->ranks && written; i++) {
        p.source = &who->source[i];
        if (p.source->is_there && (!ranks || rp_ranks_have(ranks, (int)i)))
            written = attribute_reads(&p, out);
    }
    rp_buffer_free(&p.text);
    return written && fflush(out) == 0 ? RP_OK
                                       : rp_fail(why, RP_SYSTEM, "cannot write: output closed");
}
