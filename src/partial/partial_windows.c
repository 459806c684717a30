/* SPDX-License-Identifier: MIT */
/*
 * One-sided communication. Other ranks write into a rank's memory while it runs, so the memory that
 * they write into is not the memory that the program works on (window/shadow.h). What the program
 * stored goes out, and what others stored comes in, at calls that this rank makes, and nowhere
 * else. Only what came in is written down, by an entry `changes` before that of the call: so a rank
 * alone sees the same changes at the same calls. The calls themselves say only what they returned.
 * Memory that is attached to a dynamic window cannot be parted, since others know its addresses,
 * nor is that which all members of a window share, unless the program is tracked by calls:
 * everything that changed in it since it was last looked at is written down, whoever stored it.
 *
 * Where memory is looked at (docs/model.md says what MPI promises):
 * - all of a window, where MPI says that changes must be visible: fence, wait, lock of this rank,
 * lock_all, sync; and going out at post, unlock of this rank, unlock_all;
 * - all of all windows, where the program hears of others by a message or a collective call, or
 * tells them: in the unified model, what was written before is seen then;
 * - what this rank itself updated in its own window, when the update is complete: flush, unlock.
 * Before an access to its own window, its stores there go out;
 * - all of all windows at any other call, but so seldom that it takes a small part of the time: in
 * the unified model changes are seen sometime.
 */
#include <stdlib.h>
#include <string.h>
#ifndef __x86_64__
#include <time.h>
#endif

#include "window/fault_guard.h"
#include "window/byte_planes.h"
#include "base/diagnostics.h"
#include "window/shadow.h"
#include "base/fixed_address.h"
#include "partial/partial_windows.h"
#include "log/window_sync_log.h"
#include "reprise.h"

const struct rp_function rp_f_window = {RP_WINDOW_NUMBER, "changes"};

static const uint64_t looking = UINT64_MAX;
static struct rp_window *windows;
static uint64_t windows_made;
size_t rp_windows;
uint32_t rp_updates;
const struct rp_symmetric_side *rp_symmetric;

uint8_t *rp_allocate_like(const void *like, size_t size, void **owned)
{
    enum { LINE = 64 };
    uint8_t *memory = rp_allocate(size + 2 * LINE);

    *owned = memory;
    return memory + ((uintptr_t)like - (uintptr_t)memory) % LINE;
}

struct rp_window *rp_windows_first(void)
{
    return windows;
}

struct rp_window *rp_window_find(MPI_Win win)
{
    for (struct rp_window *w = windows; w; w = w->next)
        if (w->win == win)
            return w;
    return NULL;
}

struct rp_window *rp_window_add(MPI_Win win, int self)
{
    struct rp_window *w = rp_allocate(sizeof *w);

    w->win = win;
    w->number = windows_made++;
    w->self = self;
    w->next = windows;
    windows = w;
    rp_windows++;
    return w;
}

struct rp_window_region *rp_window_region_add(struct rp_window *w, void *own, void *public,
                                              size_t size)
{
    struct rp_window_region *r = rp_allocate(sizeof *r);

    r->memory = (struct rp_shadow){.own = own, .public = public, .size = size};
    r->member = -1;
    r->next = w->regions;
    w->regions = r;
    return r;
}

void rp_window_region_free(struct rp_window_region *r)
{
    struct rp_window_region *lender = r->lender;

    if (r->borrowers > 0) {
        r->gone = true;
        return;
    }
    if (lender && --lender->borrowers == 0 && lender->gone)
        rp_window_region_free(lender);
    if (r->tracked)
        rp_track_remove(r->memory.own, r->memory.size);
    if (r->steady)
        rp_fixed_give(r->memory.own, r->memory.size);
    free(r->owned[0]);
    free(r->owned[1]);
    free(r->owned[2]);
    free(r);
}

void rp_window_remove(MPI_Win win)
{
    for (struct rp_window **at = &windows; *at; at = &(*at)->next)
        if ((*at)->win == win) {
            struct rp_window *w = *at;
            *at = w->next;
            rp_windows--;
            while (w->regions) {
                struct rp_window_region *r = w->regions;
                w->regions = r->next;
                rp_window_region_free(r);
            }
            rp_track_remove(w->whole, w->span);
            free(w->members);
            free(w);
            return;
        }
}

/* Recording */

enum { FINE = 4 }; /* no call is shorter than 16 units */

static struct {
    struct rp_window_sync_writer *log;
    char *directory;
    uint64_t run;
    uint32_t rank;
    uint64_t time; /* of the last glance */
} order;

void rp_windows_open(const char *directory, uint64_t run, uint32_t rank)
{
    order.directory = strdup(directory);
    order.run = run;
    order.rank = rank;
}

void rp_windows_close(void)
{
    if (order.log)
        rp_window_sync_close(order.log);
    order.log = NULL;
}

/* In any unit that is about a nanosecond. */
static uint64_t now(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
#endif
}

static void mark(uint64_t time)
{
    if (order.log)
        rp_window_sync_mark(order.log, rp_data_entries(rp_data_writer), time >> FINE);
}

void rp_windows_mark(void)
{
    mark(order.time);
}

/* The log is made with the first window; the record is of use without it. */
void rp_windows_order(MPI_Comm comm)
{
    struct rp_problem why;
    MPI_Group all, members;
    int count = 0;

    if (windows_made == 1 && order.directory &&
        rp_window_sync_create(order.directory, order.run, order.rank, &order.log, &why) != RP_OK) {
        rp_error("%s; which rank wrote what cannot be told", why.text);
        order.log = NULL;
    }
    if (!order.log)
        return;
    rp_pmpi.Comm_size(comm, &count);
    int *ranks = rp_allocate((size_t)count * 2 * sizeof *ranks), *world = ranks + count;
    for (int i = 0; i < count; i++)
        ranks[i] = i;
    rp_pmpi.Comm_group(comm, &members);
    rp_pmpi.Comm_group(rp_constant.world, &all);
    rp_pmpi.Group_translate_ranks(members, count, ranks, all, world);
    rp_pmpi.Group_free(&members);
    rp_pmpi.Group_free(&all);
    rp_window_sync_window(order.log, world, (size_t)count);
    free(ranks);
}

void rp_windows_attached(const struct rp_window *w, const struct rp_window_region *r)
{
    if (order.log)
        rp_window_sync_attach(order.log, w->number, (uintptr_t)r->memory.own, r->memory.size);
}

struct news {
    const struct rp_window *window;
    uint64_t time;   /* when it was looked for */
    uint64_t region; /* number of the region */
    bool begun;      /* there is an entry */
};

static void put_run(void *data, size_t at, const uint8_t *bytes, size_t length, unsigned lanes)
{
    enum { SHORT = 64 }; /* to pack less is not worth the byte that tells the lanes */
    struct news *news = data;
    bool is_packed = lanes != RP_LANES_ALL && length >= SHORT;
    uint8_t packed[RP_MIRROR_RUN];

    if (!news->begun) {
        mark(news->time);
        rp_data_begin(rp_data_writer, rp_f_window.number, rp_f_window.name);
        rp_partial_record_number(news->window->number);
    }
    news->begun = true;
    rp_partial_record_number((news->region + 1) << 1 | is_packed);
    rp_partial_record_number(at);
    if (!is_packed) {
        rp_data_put_content(rp_data_writer, bytes, length);
        return;
    }
    rp_partial_record_number(lanes);
    rp_byte_planes_pack(packed, bytes, length, lanes);
    rp_data_put_content(rp_data_writer, packed, rp_byte_planes_size(length, lanes));
}

static void put_beginning(void *data, size_t at, const uint8_t *bytes, size_t length,
                          unsigned lanes)
{
    (void)lanes;
    rp_partial_record_number(*(const uint64_t *)data + 1);
    rp_partial_record_number(at);
    rp_data_put_content(rp_data_writer, bytes, length);
}

static void end_news(const struct news *news)
{
    if (!news->begun)
        return;
    rp_partial_record_number(0);
    rp_partial_record_end();
}

struct look {
    struct rp_window_region *region;
    size_t at, length;
    struct news *news;
};

static void look_in(void *data)
{
    struct look *look = data;

    rp_shadow_in(&look->region->memory, look->at, look->length, put_run, look->news);
}

static void look_out(void *data)
{
    struct look *look = data;

    rp_shadow_out(&look->region->memory, look->at, look->length);
}

/* Touches memory of the region, if it is still there. */
static void visit(struct rp_window_region *r, void (*act)(void *data), void *data)
{
    if (!r->programs)
        act(data);
    else if (!r->lost)
        r->lost = !rp_guard(r->memory.own, r->memory.size, act, data);
}

/* `news`: what came in is told; NULL: stores go out. */
static void look_at(struct rp_window_region *r, size_t at, size_t length, struct news *news)
{
    struct look look = {r, at, length, news};

    visit(r, news ? look_in : look_out, &look);
}

void rp_window_put(struct rp_window *w)
{
    uint64_t region = 0;

    for (struct rp_window_region *r = w->regions; r; r = r->next, region++)
        rp_shadow_in(&r->memory, 0, r->memory.size, put_beginning, &region);
    rp_partial_record_number(0);
}

static void all_in(struct rp_window *w)
{
    struct news news = {.window = w, .time = now()};

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (struct rp_window_region *r = w->regions; r; r = r->next, news.region++)
        look_at(r, 0, r->memory.size, &news);
    end_news(&news);
}

static void all_out(struct rp_window *w)
{
    for (struct rp_window_region *r = w->regions; r; r = r->next)
        look_at(r, 0, r->memory.size, NULL);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void rp_windows_out(MPI_Win win)
{
    struct rp_window *w = rp_window_find(win);

    if (w)
        all_out(w);
}

void rp_windows_in(MPI_Win win)
{
    struct rp_window *w = rp_window_find(win);

    if (w)
        all_in(w);
}

static uint64_t number_of(const struct rp_window *w, const struct rp_window_region *wanted)
{
    uint64_t number = 0;

    for (const struct rp_window_region *r = w->regions; r != wanted; r = r->next)
        number++;
    return number;
}

void rp_windows_in_own(MPI_Win win)
{
    struct rp_window *w = rp_window_find(win);
    struct news news = {.window = w, .time = now()};

    if (!w || (w->range_count == 0 && !w->shared))
        return;
    if (w->range_count > RP_RANGES || w->shared) {
        all_in(w);
    } else {
        for (size_t i = 0; i < w->range_count; i++) {
            news.region = number_of(w, w->ranges[i].region);
            look_at(w->ranges[i].region, w->ranges[i].at, w->ranges[i].length, &news);
        }
        end_news(&news);
    }
    w->range_count = 0;
}

/* The bytes of this rank's window that an access to itself touches; false: none that we know. */
static bool locate(struct rp_window *w, MPI_Aint disp, int64_t count, MPI_Datatype type,
                   struct rp_memory_range *range)
{
    MPI_Aint lb, extent, true_lb, true_extent;

    rp_pmpi.Type_get_extent(type, &lb, &extent);
    rp_pmpi.Type_get_true_extent(type, &true_lb, &true_extent);
    MPI_Aint more = (MPI_Aint)(count - 1) * extent, first = true_lb + (more < 0 ? more : 0),
             last = true_lb + true_extent + (more > 0 ? more : 0);
    for (struct rp_window_region *r = w->regions; r; r = r->next) {
        MPI_Aint from = first + (w->dynamic ? disp - (MPI_Aint)(intptr_t)r->memory.own
                                            : disp * w->disp_unit),
                 to = from - first + last;
        if (from < 0 || from >= (MPI_Aint)r->memory.size || to <= from)
            continue;
        *range = (struct rp_memory_range){
            r, (size_t)from,
            (size_t)((to < (MPI_Aint)r->memory.size ? to : (MPI_Aint)r->memory.size) - from)};
        return true;
    }
    return false;
}

void rp_window_access(MPI_Win win, int target, MPI_Aint disp, int64_t count, MPI_Datatype type,
                      bool writes)
{
    struct rp_window *w = rp_window_find(win);
    struct rp_memory_range range;

    if (!w || w->shared || w->self != target || count <= 0 || !locate(w, disp, count, type, &range))
        return;
    look_at(range.region, range.at, range.length, NULL);
    if (writes && w->range_count < RP_RANGES)
        w->ranges[w->range_count] = range;
    if (writes && w->range_count <= RP_RANGES)
        w->range_count++;
}

int64_t rp_window_place(MPI_Win win, MPI_Aint disp)
{
    const struct rp_window *w = rp_window_find(win);

    return w && w->dynamic ? 0 : (int64_t)disp;
}

MPI_Aint rp_window_recorded(MPI_Win win, int target, MPI_Aint disp)
{
    const struct rp_window *w = rp_window_find(win);

    for (const struct rp_window_region *r = w && w->dynamic && w->self == target ? w->regions
                                                                                 : NULL;
         r; r = r->next)
        if (r->origin && (uintptr_t)disp - (uintptr_t)r->memory.own < r->memory.size)
            return (MPI_Aint)(r->origin + ((uintptr_t)disp - (uintptr_t)r->memory.own));
    return disp;
}

bool rp_window_is_self(MPI_Win win, int rank)
{
    const struct rp_window *w = rp_window_find(win);

    return w && (w->self == rank || w->shared);
}

void rp_windows_all_out(void)
{
    for (struct rp_window *w = windows; w; w = w->next)
        if (!w->ending)
            all_out(w);
    if (rp_symmetric)
        rp_symmetric->out();
}

void rp_windows_all_in(void)
{
    for (struct rp_window *w = windows; w; w = w->next)
        if (!w->ending)
            all_in(w);
    if (rp_symmetric)
        rp_symmetric->in();
}

static uint64_t size_of_all(void)
{
    uint64_t size = 0;

    for (const struct rp_window *w = windows; w; w = w->next)
        for (const struct rp_window_region *r = w->regions; r; r = r->next)
            size += r->memory.size;
    return size;
}

void rp_windows_mark_now(void)
{
    order.time = now();
    rp_windows_mark();
}

void rp_windows_mark_loads(uint64_t loads)
{
    enum { SELDOM = 4096 };
    static uint64_t next;
    uint64_t time = order.log ? now() : 0;

    if (time < next || !order.log)
        return;
    rp_window_sync_mark_loads(order.log, loads, time >> FINE);
    next = time + SELDOM;
}

void rp_windows_glance(void)
{
    enum { SELDOM = 64 }; /* times as long as it takes */
    static uint64_t next_look, cost;
    uint64_t before = now(), entries = rp_data_entries(rp_data_writer);

    order.time = before;
    if (before < next_look)
        return;
    rp_windows_all_out();
    rp_windows_all_in();
    order.time = now();
    if (rp_data_entries(rp_data_writer) > entries)
        rp_windows_mark();
    uint64_t took = order.time - before, most = 2 * cost + 1000 + size_of_all() / 4;
    cost = took < most ? took : most; /* the process may have slept meanwhile */
    next_look = before + took + SELDOM * cost;
}

/* Alone */

/* What the program stores is public at once. */
static bool is_direct(const struct rp_window *w)
{
    return w->shared || w->dynamic || rp_tracked();
}

struct search {
    const struct rp_function *function;
    struct rp_window *window;
    struct rp_window_region *region;
};

static void find_stores(void *data)
{
    struct search *s = data;
    const struct rp_window_region *r = s->region;

    s->window->stored |=
        rp_access_trace_stores(s->function, s->window->number, r->member, r->origin,
                               s->window->looked, r->memory.own, r->memory.shadow, r->memory.size);
}

static void look(const struct rp_function *function, struct rp_window *w)
{
    for (struct rp_window_region *r = w->regions; r && w->looked != looking; r = r->next) {
        struct search search = {function, w, r};
        if (r->memory.shadow)
            visit(r, find_stores, &search);
    }
    w->looked = looking;
    if (w->stored && is_direct(w)) {
        rp_access_trace_out(function, w->number);
        w->stored = false;
    }
}

void rp_windows_look(const struct rp_function *function, MPI_Win win, bool out)
{
    struct rp_window *w = rp_window_find(win);

    if (!w)
        return;
    if (rp_track_parted)
        rp_track_settle_now();
    look(function, w);
    if (out && w->stored)
        rp_access_trace_out(function, w->number);
    w->stored &= !out;
}

void rp_windows_look_all(const struct rp_function *function)
{
    for (struct rp_window *w = windows; w; w = w->next)
        rp_windows_look(function, w->win, true);
}

void rp_windows_looked(void)
{
    for (struct rp_window *w = windows; w; w = w->next)
        if (w->looked == looking)
            w->looked = rp_data_read_entries(rp_data_reader);
}

static bool is_in(const struct rp_window *w, const uint8_t *at)
{
    for (const struct rp_window_region *r = w->regions; r; r = r->next)
        if (at >= r->memory.own && at < r->memory.own + r->memory.size)
            return true;
    return false;
}

bool rp_windows_differ(const void *at, size_t size)
{
    const uint8_t *first = at, *end = first + size;

    for (const struct rp_window *w = windows; w; w = w->next)
        for (const struct rp_window_region *r = w->regions; r; r = r->next) {
            const uint8_t *from = first > r->memory.own ? first : r->memory.own,
                          *until = end < r->memory.own + r->memory.size
                                       ? end
                                       : r->memory.own + r->memory.size;
            if (r->memory.shadow && from < until &&
                memcmp(from, r->memory.shadow + (from - r->memory.own), (size_t)(until - from)) !=
                    0)
                return true;
        }
    return false;
}

void rp_windows_direct(bool loads, const void *at, const void *value, size_t size, uint64_t load)
{
    const uint8_t *first = at, *end = first + size;
    size_t in = 0;

    for (const struct rp_window *w = windows; w; w = w->next)
        in += is_in(w, first);
    for (struct rp_window *w = windows; w; w = w->next)
        for (struct rp_window_region *r = w->regions; r; r = r->next) {
            const uint8_t *from = first > r->memory.own ? first : r->memory.own,
                          *until = end < r->memory.own + r->memory.size
                                       ? end
                                       : r->memory.own + r->memory.size;
            if (!r->memory.shadow || from >= until)
                continue;
            size_t place = (size_t)(from - r->memory.own), length = (size_t)(until - from);
            memcpy(r->memory.shadow + place, (const uint8_t *)value + (from - first), length);
            rp_access_trace_direct(loads, w->number, r->member, r->origin + place,
                                   r->memory.shadow + place, length, load, !loads || in == 1);
        }
}

uint64_t rp_window_number(MPI_Win win)
{
    const struct rp_window *w = rp_window_find(win);

    return w ? w->number : UINT32_MAX;
}

void rp_window_tell(struct rp_window *w, const struct rp_function *function, int disp_unit)
{
    size_t size = 0;

    if (!rp_access_traced)
        return;
    w->self = rp_access_trace_self(w->number);
    for (const struct rp_window_region *r = w->regions; r; r = r->next)
        size = r->member < 0 || r->member == w->self ? r->memory.size : size;
    rp_access_trace_window(w->number, w->dynamic, disp_unit, size, function);
    for (struct rp_window_region *r = w->regions; r; r = r->next) {
        r->memory.shadow = rp_allocate_like(r->memory.own, r->memory.size, &r->owned[1]);
        rp_access_trace_stores(function, w->number, r->member, 0, 0, r->memory.own,
                               r->memory.shadow, r->memory.size);
    }
    w->looked = rp_data_read_entries(rp_data_reader);
}

/* A run of bytes, or of some lanes of them (0: all). False: the entry is damaged; whoever asked
 * tells how. */
static bool take_run(struct rp_window *w, uint64_t region, uint64_t at, uint64_t lanes)
{
    size_t stored;
    const uint8_t *content = rp_data_get_content(rp_data_reader, &stored);
    size_t length = content && lanes ? rp_byte_planes_bytes(stored, (unsigned)lanes) : stored;
    struct rp_window_region *r = w ? w->regions : NULL;

    if (!content)
        return false;
    for (uint64_t i = 1; r && i < region; i++)
        r = r->next;
    if (region == 0 || !r || at > r->memory.size || length > r->memory.size - at ||
        lanes > RP_LANES_ALL || (lanes && length == 0)) {
        rp_error("not the recorded run: others wrote into a window that is not there");
        rp_data_end_job(REPRISE_EXIT_DIVERGED);
    }
    if (lanes)
        rp_byte_planes_unpack(r->memory.own + at, content, length, (unsigned)lanes);
    else
        memcpy(r->memory.own + at, content, length);
    if (r->memory.shadow) {
        memcpy(r->memory.shadow + at, r->memory.own + at, length);
        rp_access_trace_change(rp_partial_feed_calling(), w->number, r->member, r->origin + at,
                               r->memory.own + at, length);
    }
    return true;
}

void rp_window_take(struct rp_window *w)
{
    for (uint64_t region; (region = rp_partial_feed_number()) != 0;)
        if (!take_run(w, region, rp_partial_feed_number(), 0))
            return;
}

static struct rp_window *take_window(void)
{
    uint64_t number = rp_partial_feed_number();
    struct rp_window *w = windows;

    while (w && w->number != number)
        w = w->next;
    if (rp_access_traced && w)
        look(rp_partial_feed_calling(), w);
    return w;
}

void rp_partial_feed_changes(void)
{
    struct rp_window *w = take_window();

    for (uint64_t region; (region = rp_partial_feed_number()) != 0;) {
        uint64_t at = rp_partial_feed_number(), lanes = region & 1 ? rp_partial_feed_number() : 0;
        if (!take_run(w, region >> 1, at, lanes))
            return;
    }
}
