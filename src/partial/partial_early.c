/* SPDX-License-Identifier: MIT */
/*
 * Results that are in memory before the call that completes them. A program must not load them
 * before, but one that does loads in a partial replay what it loaded in the record.
 *
 * The memory of operations under way (one-sided reads, receives, non-blocking collectives) is
 * looked at where each MPI call begins and where it returns: of the newest ones, as far as they
 * are small. If it is not what it was at the look before, an entry `arrived` records all of it, and
 * the number of the look, counted from the call that began the operation. (The place of the entry
 * would not do: calls that only begin an update have no entry.) A rank that is fed counts its looks
 * in the same way, and puts the content there at the same look.
 *
 * What changed inside a call MPI has stored. What changed between two calls the program may have
 * stored itself; or MPI, if a network or a thread works for it while the program computes. The
 * entry says so. Feeding, words that the program has stored since the look before stay as they are:
 * it stores again what is its own. So its stores are never taken for an arrival, be it of an
 * address or a time.
 *
 * When MPI has stored into all words of a result, it is no longer looked at. So there is mostly
 * little to look at, however many operations are under way. Nor is it looked at if the program
 * stores there again and again: then it uses the memory for something else (an operation was
 * abandoned in a function that returned). Device memory is not looked at: the program cannot see it
 * without a copy, and each look would be one.
 */
#include <stdio.h>
#include <string.h>

#include "window/fault_guard.h"
#include "base/diagnostics.h"
#include "event/naming.h"
#include "partial/partial_early.h"
#include "partial/partial_entries.h"
#include "partial/partial_tracking.h"
#include "reprise.h"

enum { WATCHES = 16, BYTES = RP_EARLY_BYTES, WORD = 8, STORES = 8 };
enum { BETWEEN = 1, LAST = 2, FLAG_BITS = 2 }; /* of an entry; LAST: it is looked at no longer */

const struct rp_function rp_f_arrived = {RP_ARRIVED_NUMBER, "arrived"};

_Static_assert(BYTES <= 32 * WORD, "a bit for each word");

struct rp_early {
    struct rp_areas *owner;
    uint8_t *plain; /* the memory, if it is one piece; else NULL */
    size_t size;
    uint64_t serial;  /* its number among all operations */
    uint64_t since;   /* the look that was last when it began */
    uint32_t arrived; /* recording: a bit for each word that MPI has stored */
    int stores;       /* recording: how often it changed between two calls */
    bool is_blind;    /* it is not looked at: it cannot be, or of a recording it need not be */
    bool is_changed;  /* since the last look */
    uint32_t site;    /* feeding: of the call that began it, + 1 */
    uint8_t seen[BYTES], now[BYTES];
    struct rp_early *older, *newer;
};

size_t rp_early_watched;

static struct {
    struct rp_early watch[WATCHES], *unused, *oldest, *newest;
    bool is_linked;        /* `unused` has all that are not used */
    uint64_t begun, looks; /* operations and looks so far */
} early;

/* The memory of an operation that is about to begin. */
static struct {
    size_t size; /* 0: it was not looked at */
    uint8_t bytes[BYTES];
} before;

static void link_unused(void)
{
    for (size_t i = 0; i < WATCHES && !early.is_linked; i++) {
        early.watch[i].newer = early.unused;
        early.unused = &early.watch[i];
    }
    early.is_linked = true;
}

void rp_early_drop(struct rp_early *w)
{
    if (!w)
        return;
    w->owner->early = NULL;
    *(w->older ? &w->older->newer : &early.oldest) = w->newer;
    *(w->newer ? &w->newer->older : &early.newest) = w->older;
    w->newer = early.unused;
    early.unused = w;
    rp_early_watched--;
}

static uint8_t *dense_memory(const struct rp_areas *areas)
{
    return areas->count == 1 && !areas->area && areas->one.dense ? (uint8_t *)areas->one.buf : NULL;
}

/* How much of it is looked at: all, or the beginning of a long one-sided result. 0: nothing. */
static size_t watched_size(const struct rp_areas *areas)
{
    size_t size = rp_areas_length(areas);

    if (rp_areas_in_device(areas))
        return 0;
    if (size <= BYTES)
        return size;
    return areas->begun_by && dense_memory(areas) ? BYTES : 0;
}

/* Room for one more: that of one which receives at the same place, or the oldest. */
static struct rp_early *take_unused(const uint8_t *plain, size_t size)
{
    struct rp_early *same = plain ? early.newest : NULL;

    link_unused();
    while (same && (same->plain != plain || same->size != size))
        same = same->older;
    if (same || !early.unused)
        rp_early_drop(same ? same : early.oldest);
    struct rp_early *w = early.unused;
    early.unused = w->newer;
    return w;
}

static void append(struct rp_early *w)
{
    w->older = early.newest;
    w->newer = NULL;
    *(early.newest ? &early.newest->newer : &early.oldest) = w;
    early.newest = w;
    rp_early_watched++;
}

/* Looking */

static void put_back(const struct rp_early *w, const uint8_t *bytes)
{
    if (w->plain)
        memcpy(w->plain, bytes, w->size);
    else
        rp_areas_copy_in(w->owner, bytes);
}

static void take(const struct rp_early *w, uint8_t *bytes)
{
    if (w->plain)
        memcpy(bytes, w->plain, w->size);
    else
        rp_areas_copy_out(w->owner, bytes);
}

static bool is_same(const struct rp_early *w, const uint8_t *now)
{
    return w->size == WORD ? memcmp(w->seen, now, WORD) == 0 : memcmp(w->seen, now, w->size) == 0;
}

static size_t word_at(const struct rp_early *w, size_t at)
{
    return w->size - at < WORD ? w->size - at : WORD;
}

struct walk {
    struct rp_early *volatile at; /* which is looked at: it may be memory that is gone */
    bool has_changes;
};

static void compare(void *data)
{
    struct walk *walk = data;

    for (struct rp_early *w = walk->at; w; w = w->newer) {
        walk->at = w;
        if (w->is_blind || (w->plain && is_same(w, w->plain)))
            continue;
        take(w, w->now);
        w->is_changed = !is_same(w, w->now);
        walk->has_changes |= w->is_changed;
    }
}

/* Returns whether any has changed since the last look. Memory of the program may be gone, if it
 * never waits for what it began. */
static bool compare_all(void)
{
    struct walk walk = {.at = early.oldest};

    while (!rp_guard(NULL, SIZE_MAX, compare, &walk))
        walk.at->is_blind = true;
    return walk.has_changes;
}

/* Recording */

void rp_early_before(const struct rp_areas *areas)
{
    const uint8_t *plain = dense_memory(areas);

    before.size = watched_size(areas);
    if (plain)
        memcpy(before.bytes, plain, before.size);
    else if (before.size > 0)
        rp_areas_copy_out(areas, before.bytes);
}

static void count_change(struct rp_early *w, bool inside)
{
    w->stores += !inside;
    for (size_t at = 0; at < w->size && inside; at += WORD)
        if (memcmp(w->seen + at, w->now + at, word_at(w, at)) != 0)
            w->arrived |= (uint32_t)1 << at / WORD;
}

/* What a collective receives may be changed again: it may reduce in place. */
static bool is_last(const struct rp_early *w)
{
    size_t words = (w->size + WORD - 1) / WORD;
    bool is_stored_once = w->owner->begun_by || w->owner->sized;

    return w->stores > STORES || (is_stored_once && w->arrived == UINT32_MAX >> (32 - words));
}

static void record_arrival(struct rp_early *w, bool inside)
{
    count_change(w, inside);
    unsigned flags = (inside ? 0 : BETWEEN) | (is_last(w) ? LAST : 0);
    rp_data_begin(rp_partial.writer, rp_f_arrived.number, rp_f_arrived.name);
    rp_partial_record_number(w->serial);
    rp_partial_record_number((early.looks - w->since) << FLAG_BITS | flags);
    rp_data_put_content(rp_partial.writer, w->now, w->size);
    rp_partial_record_end();
    memcpy(w->seen, w->now, w->size);
    w->is_changed = false;
    if (flags & LAST)
        rp_early_drop(w);
}

static void record_look(bool inside)
{
    bool has_changes = compare_all();

    for (struct rp_early *w = has_changes ? early.oldest : NULL, *next; w; w = next) {
        next = w->newer;
        if (w->is_changed)
            record_arrival(w, inside);
    }
}

/* Feeding */

static struct rp_site_table sites;
static struct {
    const struct rp_function *function; /* NULL: there is nothing to report */
    uint32_t site;
    bool is_over;
} report;

static uint32_t find_site(const struct rp_function *function)
{
    if (!function || !rp_partial.caller || report.function ||
        (!sites.keys && !rp_site_table_init(&sites)))
        return 0;
    return rp_site_find(&sites, function->name, rp_partial.caller, rp_partial.caller_stack) + 1;
}

/* The report is printed at the end: to find the line takes memory of the heap, and the program may
 * look at what is left there. */
static void note_report(const struct rp_function *function, uint32_t site)
{
    if (function && !report.function) {
        report.function = function;
        report.site = site;
    }
}

static void put_place(struct rp_buffer *text)
{
    struct rp_naming *naming = rp_naming_open(NULL);
    struct rp_site_place place;

    rp_naming_learn(naming, &sites);
    if (rp_naming_find(naming, &sites, report.site - 1, &place)) {
        rp_buffer_printf(text, " (");
        rp_site_place_put_short(text, &place);
        rp_buffer_byte(text, ')');
    }
    rp_naming_close(naming);
}

void rp_early_report(void)
{
    struct rp_buffer text = {0};

    if (!report.function || report.is_over)
        return;
    report.is_over = true;
    if (report.site > 0)
        put_place(&text);
    rp_buffer_byte(&text, 0);
    rp_note("the result of %s%s was in memory before the call that completes it; "
            "a program must not read it before",
            report.function->name, text.failed ? "" : (char *)text.bytes);
    rp_buffer_free(&text);
}

void rp_early_at_once(const struct rp_areas *areas)
{
    if (areas->count > 0)
        note_report(areas->begun_by, find_site(areas->begun_by));
}

static struct rp_early *find(uint64_t serial)
{
    struct rp_early *w = early.newest;

    while (w && w->serial != serial)
        w = w->older;
    return w;
}

/* The head of the entry that comes next. It is read ahead: it may be of a later call that has no
 * entry. */
static struct {
    bool is_read;
    uint64_t serial, when;
} head;

static void read_head(void)
{
    if (head.is_read)
        return;
    head.serial = rp_partial_feed_number();
    head.when = rp_partial_feed_number();
    head.is_read = true;
    rp_partial_feed_end();
}

/* The operation whose content is to be put here; NULL: none is. */
static struct rp_early *due(void)
{
    const char *name = rp_data_peek(rp_partial.reader);

    if (!name || strcmp(name, rp_f_arrived.name) != 0)
        return NULL;
    read_head();
    struct rp_early *w = find(head.serial);
    return w && w->since + (head.when >> FLAG_BITS) == early.looks ? w : NULL;
}

/* Words that the program has stored since the last look stay; whether any other is new. */
static bool merge(struct rp_early *w, const uint8_t *content, bool between)
{
    bool is_new = false;

    for (size_t at = 0; at < w->size; at += WORD) {
        size_t length = word_at(w, at);
        if (between && memcmp(w->seen + at, w->now + at, length) != 0)
            continue;
        is_new |= memcmp(w->now + at, content + at, length) != 0;
        memcpy(w->now + at, content + at, length);
    }
    return is_new;
}

static void deliver(struct rp_early *w)
{
    struct rp_problem why;
    const char *name;
    size_t length;

    rp_data_next(rp_partial.reader, &name, &why);
    head.is_read = false;
    const uint8_t *content = rp_data_get_content(rp_partial.reader, &length);
    rp_partial_feed_end();
    if (length != w->size) {
        rp_error("not the recorded run: a result has %zu bytes, %zu were recorded", w->size,
                 length);
        rp_data_end_job(REPRISE_EXIT_DIVERGED);
    }
    if (!w->is_changed)
        memcpy(w->now, w->seen, w->size);
    if (!w->is_blind && merge(w, content, head.when & BETWEEN)) {
        w->is_changed = true;
        put_back(w, w->now);
        note_report(w->owner->begun_by, w->site);
    }
    if (head.when & LAST)
        rp_early_drop(w);
}

static void feed_look(void)
{
    compare_all();
    for (struct rp_early *w; (w = due()) != NULL;)
        deliver(w);
    for (struct rp_early *w = early.oldest; w; w = w->newer) {
        if (w->is_changed)
            memcpy(w->seen, w->now, w->size);
        w->is_changed = false;
    }
}

/* If the program makes other calls than were recorded, the next entry shows it. */
void rp_partial_feed_arrived(void)
{
    static bool has_said;
    size_t length;

    read_head();
    head.is_read = false;
    rp_data_get_content(rp_partial.reader, &length);
    if (!has_said)
        rp_note("a result was in memory before the call that completes it, but this rank has no "
                "such operation under way here: it gets the result when it is complete");
    has_said = true;
}

/* Both */

/* Of a tracked program, loads from windows are known one by one. */
static bool is_tracked(const struct rp_early *w)
{
    return rp_tracked() && (!w->plain || rp_track_touches(w->plain, w->size));
}

void rp_early_add(struct rp_areas *areas)
{
    size_t size = watched_size(areas);

    if (size == 0 || rp_partial.has_threads)
        return;
    uint8_t *plain = dense_memory(areas);
    struct rp_early *w = take_unused(plain, size);
    w->owner = areas;
    w->plain = plain;
    w->size = size;
    w->serial = early.begun++;
    w->since = early.looks;
    w->stores = 0;
    w->arrived = 0;
    w->is_changed = false;
    areas->early = w;
    append(w);
    w->is_blind = !rp_partial.is_feeding && is_tracked(w);
    if (rp_partial.is_feeding)
        w->site = find_site(areas->begun_by);
    if (!rp_partial.is_feeding && before.size == size)
        memcpy(w->seen, before.bytes, size);
    else
        take(w, w->seen);
    before.size = 0;
}

void rp_early_end(void)
{
    while (early.oldest)
        rp_early_drop(early.oldest);
}

void rp_early_look(bool inside)
{
    if (rp_partial_feed_in_handler)
        return;
    early.looks++;
    if (rp_partial.is_feeding)
        feed_look();
    else
        record_look(inside);
}
