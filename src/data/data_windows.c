/* SPDX-License-Identifier: MIT */
/*
 * One-sided communication. Other ranks write into a rank's memory while it runs, so the memory that they write into is not the memory that the program works on (base/mirror.h). What the program stored goes out, and what others
 * stored comes in, at calls that this rank makes, and nowhere else. Only what came in is written down, by an entry `window` before that of the call: so a rank alone sees the same changes at the same calls. The calls themselves say only
 * what they returned. Memory that is attached to a dynamic window cannot be parted, since others know its addresses, nor is that which all members of a window share, unless the program is tracked by calls: everything that changed in it since it was last looked at is written down, whoever stored it.
 *
 * Where memory is looked at (docs/model.md says what MPI promises):
 * - all of a window, where MPI says that changes must be visible: fence, wait, lock of this rank, lock_all, sync; and going out at post, unlock of this rank, unlock_all;
 * - all of all windows, where the program hears of others by a message or a collective call, or tells them: in the unified model, what was written before is seen then;
 * - what this rank itself updated in its own window, when the update is complete: flush, unlock. Before an access to its own window, its stores there go out;
 * - all of all windows at any other call, but so seldom that it takes a small part of the time: in the unified model changes are seen sometime.
 */
#include <stdlib.h>
#include <string.h>
#ifndef __x86_64__
#include <time.h>
#endif

#include "base/message.h"
#include "base/mirror.h"
#include "base/settings.h"
#include "base/steady.h"
#include "data/data.h"
#include "log/orderlog.h"
#include "reprise.h"

const struct rp_function rp_f_window = {RP_WINDOW_NUMBER, "window"};

struct region {
    struct rp_mirror memory; /* alone, only `own` and `size` */
    void *owned[2];          /* of it, what is ours to free */
    bool steady;             /* own memory is that of base/steady.h */
    bool tracked;            /* the shadow is that of data_track.c */
    uint64_t origin;         /* alone, of a dynamic one: where it was in the record */
    int member;              /* alone, of a shared window: whose it is; else -1 */
    struct region *lender;   /* recording: the region of another window that this one is part of, whose public memory and shadow it has */
    size_t borrowers;
    bool gone;               /* its window is, but not yet all borrowers */
    struct region *next;
};

/* Of this rank's window, what the rank itself is updating. */
enum { RANGES = 64 };
struct range {
    struct region *region;
    size_t at, length;
};

struct member {
    MPI_Aint size;
    int disp_unit;
    void *base;
};

struct window {
    MPI_Win win;
    uint64_t number;
    int self; /* this rank in it */
    bool dynamic, allocated; /* by MPI_Win_create_dynamic, by MPI_Win_allocate */
    bool shared;             /* by MPI_Win_allocate_shared: a region for each member, of whom all see all */
    bool ending;             /* its memory may be gone */
    void *base;
    void *whole; /* of a shared one of a tracked program, all parts together */
    size_t span;
    uintptr_t to_own; /* of those of programs that are tracked by calls: from what MPI says to the program's memory */
    struct region *regions; /* the newest first */
    struct range ranges[RANGES];
    size_t range_count; /* more than RANGES: all of it */
    MPI_Aint size; /* attributes, alone */
    int disp_unit, flavor, model;
    struct member *members; /* of a shared one, alone */
    int member_count;
    uint64_t looked; /* alone: entries that were complete when the program went on after its stores were looked for; looking: a call is about to end */
    bool stored;     /* and some are not public yet */
    size_t attaches; /* alone */
    struct window *next;
};

static const uint64_t looking = UINT64_MAX;
static struct window *windows;
static uint64_t windows_made;
size_t rp_windows;
uint32_t rp_updates;
const struct rp_symmetric_side *rp_symmetric;

static void *allocate(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory");
    return memory;
}

/* Zeros, as far from a multiple of 64 as `like` is; `owned` is to be freed. */
static uint8_t *allocate_like(const void *like, size_t size, void **owned)
{
    enum { LINE = 64 };
    uint8_t *memory = allocate(size + 2 * LINE);

    *owned = memory;
    return memory + ((uintptr_t)like - (uintptr_t)memory) % LINE;
}

static struct window *find(MPI_Win win)
{
    for (struct window *w = windows; w; w = w->next)
        if (w->win == win)
            return w;
    return NULL;
}

static struct window *add_window(MPI_Win win, int self)
{
    struct window *w = allocate(sizeof *w);

    w->win = win;
    w->number = windows_made++;
    w->self = self;
    w->next = windows;
    windows = w;
    rp_windows++;
    return w;
}

static struct region *add_region(struct window *w, void *own, void *public, size_t size)
{
    struct region *r = allocate(sizeof *r);

    r->memory = (struct rp_mirror){.own = own, .public = public, .size = size};
    r->member = -1;
    r->next = w->regions;
    w->regions = r;
    return r;
}

static void free_region(struct region *r)
{
    struct region *lender = r->lender;

    if (r->borrowers > 0) {
        r->gone = true;
        return;
    }
    if (lender && --lender->borrowers == 0 && lender->gone)
        free_region(lender);
    if (r->tracked)
        rp_track_remove(r->memory.own, r->memory.size);
    if (r->steady)
        rp_steady_give(r->memory.own, r->memory.size);
    free(r->owned[0]);
    free(r->owned[1]);
    free(r);
}

static void remove_window(MPI_Win win)
{
    for (struct window **at = &windows; *at; at = &(*at)->next)
        if ((*at)->win == win) {
            struct window *w = *at;
            *at = w->next;
            rp_windows--;
            while (w->regions) {
                struct region *r = w->regions;
                w->regions = r->next;
                free_region(r);
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
    struct rp_order_writer *log;
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
        rp_order_close(order.log);
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
        rp_order_mark(order.log, rp_data_entries(rp_data_writer), time >> FINE);
}

void rp_windows_mark(void)
{
    mark(order.time);
}

/* Who the members of a window are. The log is made with the first; the record is of use without it. */
static void order_window(MPI_Comm comm)
{
    struct rp_problem why;
    MPI_Group all, members;
    int count = 0;

    if (windows_made == 1 && order.directory && rp_order_create(order.directory, order.run, order.rank, &order.log, &why) != RP_OK) {
        rp_error("%s; which rank wrote what cannot be told", why.text);
        order.log = NULL;
    }
    if (!order.log)
        return;
    rp_pmpi.Comm_size(comm, &count);
    int *ranks = allocate((size_t)count * 2 * sizeof *ranks), *world = ranks + count;
    for (int i = 0; i < count; i++)
        ranks[i] = i;
    rp_pmpi.Comm_group(comm, &members);
    rp_pmpi.Comm_group(rp_constant.world, &all);
    rp_pmpi.Group_translate_ranks(members, count, ranks, all, world);
    rp_pmpi.Group_free(&members);
    rp_pmpi.Group_free(&all);
    rp_order_window(order.log, world, (size_t)count);
    free(ranks);
}

struct news {
    const struct window *window;
    uint64_t time;   /* when it was looked for */
    uint64_t region; /* number of the region */
    bool begun; /* there is an entry */
};

static void put_run(void *data, size_t at, const uint8_t *bytes, size_t length)
{
    struct news *news = data;

    if (!news->begun) {
        mark(news->time);
        rp_data_begin(rp_data_writer, rp_f_window.number, rp_f_window.name);
        rp_record_number(news->window->number);
    }
    news->begun = true;
    rp_record_number(news->region + 1);
    rp_record_number(at);
    rp_data_put_content(rp_data_writer, bytes, length);
}

static void end_news(const struct news *news)
{
    if (!news->begun)
        return;
    rp_record_number(0);
    rp_record_end();
}

static void all_in(struct window *w)
{
    struct news news = {.window = w, .time = now()};

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (struct region *r = w->regions; r; r = r->next, news.region++)
        rp_mirror_in(&r->memory, 0, r->memory.size, put_run, &news);
    end_news(&news);
}

static void all_out(struct window *w)
{
    for (struct region *r = w->regions; r; r = r->next)
        rp_mirror_out(&r->memory, 0, r->memory.size);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void rp_windows_out(MPI_Win win)
{
    struct window *w = find(win);

    if (w)
        all_out(w);
}

void rp_windows_in(MPI_Win win)
{
    struct window *w = find(win);

    if (w)
        all_in(w);
}

static uint64_t number_of(const struct window *w, const struct region *wanted)
{
    uint64_t number = 0;

    for (const struct region *r = w->regions; r != wanted; r = r->next)
        number++;
    return number;
}

void rp_windows_in_own(MPI_Win win)
{
    struct window *w = find(win);
    struct news news = {.window = w, .time = now()};

    if (!w || (w->range_count == 0 && !w->shared))
        return;
    if (w->range_count > RANGES || w->shared) {
        all_in(w);
    } else {
        for (size_t i = 0; i < w->range_count; i++) {
            news.region = number_of(w, w->ranges[i].region);
            rp_mirror_in(&w->ranges[i].region->memory, w->ranges[i].at, w->ranges[i].length, put_run, &news);
        }
        end_news(&news);
    }
    w->range_count = 0;
}

/* The bytes of this rank's window that an access to itself touches; false: none that we know. */
static bool locate(struct window *w, MPI_Aint disp, int64_t count, MPI_Datatype type, struct range *range)
{
    MPI_Aint lb, extent, true_lb, true_extent;

    rp_pmpi.Type_get_extent(type, &lb, &extent);
    rp_pmpi.Type_get_true_extent(type, &true_lb, &true_extent);
    MPI_Aint more = (MPI_Aint)(count - 1) * extent, first = true_lb + (more < 0 ? more : 0), last = true_lb + true_extent + (more > 0 ? more : 0);
    for (struct region *r = w->regions; r; r = r->next) {
        MPI_Aint from = first + (w->dynamic ? disp - (MPI_Aint)(intptr_t)r->memory.own : disp * w->disp_unit), to = from - first + last;
        if (from < 0 || from >= (MPI_Aint)r->memory.size || to <= from)
            continue;
        *range = (struct range){r, (size_t)from, (size_t)((to < (MPI_Aint)r->memory.size ? to : (MPI_Aint)r->memory.size) - from)};
        return true;
    }
    return false;
}

void rp_window_access(MPI_Win win, int target, MPI_Aint disp, int64_t count, MPI_Datatype type, bool writes)
{
    struct window *w = find(win);
    struct range range;

    if (!w || w->shared || w->self != target || count <= 0 || !locate(w, disp, count, type, &range))
        return;
    rp_mirror_out(&range.region->memory, range.at, range.length);
    if (writes && w->range_count < RANGES)
        w->ranges[w->range_count] = range;
    if (writes && w->range_count <= RANGES)
        w->range_count++;
}

int64_t rp_window_place(MPI_Win win, MPI_Aint disp)
{
    const struct window *w = find(win);

    return w && w->dynamic ? 0 : (int64_t)disp;
}

MPI_Aint rp_window_recorded(MPI_Win win, int target, MPI_Aint disp)
{
    const struct window *w = find(win);

    for (const struct region *r = w && w->dynamic && w->self == target ? w->regions : NULL; r; r = r->next)
        if (r->origin && (uintptr_t)disp - (uintptr_t)r->memory.own < r->memory.size)
            return (MPI_Aint)(r->origin + ((uintptr_t)disp - (uintptr_t)r->memory.own));
    return disp;
}

bool rp_window_is_self(MPI_Win win, int rank)
{
    const struct window *w = find(win);

    return w && (w->self == rank || w->shared);
}

void rp_windows_all_out(void)
{
    for (struct window *w = windows; w; w = w->next)
        if (!w->ending)
            all_out(w);
    if (rp_symmetric)
        rp_symmetric->out();
}

void rp_windows_all_in(void)
{
    for (struct window *w = windows; w; w = w->next)
        if (!w->ending)
            all_in(w);
    if (rp_symmetric)
        rp_symmetric->in();
}

static uint64_t size_of_all(void)
{
    uint64_t size = 0;

    for (const struct window *w = windows; w; w = w->next)
        for (const struct region *r = w->regions; r; r = r->next)
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
    rp_order_mark_loads(order.log, loads, time >> FINE);
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
static bool is_direct(const struct window *w)
{
    return w->shared || w->dynamic || rp_tracked();
}

static void look(const struct rp_function *function, struct window *w)
{
    for (struct region *r = w->regions; r && w->looked != looking; r = r->next)
        if (r->memory.shadow)
            w->stored |= rp_trace_stores(function, w->number, r->member, r->origin, w->looked, r->memory.own, r->memory.shadow, r->memory.size);
    w->looked = looking;
    if (w->stored && is_direct(w)) {
        rp_trace_out(function, w->number);
        w->stored = false;
    }
}

void rp_windows_look(const struct rp_function *function, MPI_Win win, bool out)
{
    struct window *w = find(win);

    if (!w)
        return;
    if (rp_track_parted)
        rp_track_settle_now();
    look(function, w);
    if (out && w->stored)
        rp_trace_out(function, w->number);
    w->stored &= !out;
}

void rp_windows_look_all(const struct rp_function *function)
{
    for (struct window *w = windows; w; w = w->next)
        rp_windows_look(function, w->win, true);
}

void rp_windows_looked(void)
{
    for (struct window *w = windows; w; w = w->next)
        if (w->looked == looking)
            w->looked = rp_data_read_entries(rp_data_reader);
}

static bool is_in(const struct window *w, const uint8_t *at)
{
    for (const struct region *r = w->regions; r; r = r->next)
        if (at >= r->memory.own && at < r->memory.own + r->memory.size)
            return true;
    return false;
}

bool rp_windows_differ(const void *at, size_t size)
{
    const uint8_t *first = at, *end = first + size;

    for (const struct window *w = windows; w; w = w->next)
        for (const struct region *r = w->regions; r; r = r->next) {
            const uint8_t *from = first > r->memory.own ? first : r->memory.own, *until = end < r->memory.own + r->memory.size ? end : r->memory.own + r->memory.size;
            if (r->memory.shadow && from < until && memcmp(from, r->memory.shadow + (from - r->memory.own), (size_t)(until - from)) != 0)
                return true;
        }
    return false;
}

void rp_windows_direct(bool loads, const void *at, const void *value, size_t size, uint64_t load)
{
    const uint8_t *first = at, *end = first + size;
    size_t in = 0;

    for (const struct window *w = windows; w; w = w->next)
        in += is_in(w, first);
    for (struct window *w = windows; w; w = w->next)
        for (struct region *r = w->regions; r; r = r->next) {
            const uint8_t *from = first > r->memory.own ? first : r->memory.own, *until = end < r->memory.own + r->memory.size ? end : r->memory.own + r->memory.size;
            if (!r->memory.shadow || from >= until)
                continue;
            size_t place = (size_t)(from - r->memory.own), length = (size_t)(until - from);
            memcpy(r->memory.shadow + place, (const uint8_t *)value + (from - first), length);
            rp_trace_direct(loads, w->number, r->member, r->origin + place, r->memory.shadow + place, length, load, !loads || in == 1);
        }
}

uint64_t rp_window_number(MPI_Win win)
{
    const struct window *w = find(win);

    return w ? w->number : UINT32_MAX;
}

/* The window is there; what the program's memory has is the owner's. */
static void tell_window(struct window *w, const struct rp_function *function, int disp_unit)
{
    size_t size = 0;

    if (!rp_traced)
        return;
    w->self = rp_trace_self(w->number);
    for (const struct region *r = w->regions; r; r = r->next)
        size = r->member < 0 || r->member == w->self ? r->memory.size : size;
    rp_trace_window(w->number, w->dynamic, disp_unit, size, function);
    for (struct region *r = w->regions; r; r = r->next) {
        r->memory.shadow = allocate_like(r->memory.own, r->memory.size, &r->owned[1]);
        rp_trace_stores(function, w->number, r->member, 0, 0, r->memory.own, r->memory.shadow, r->memory.size);
    }
    w->looked = rp_data_read_entries(rp_data_reader);
}

static void take_runs(struct window *w)
{
    for (uint64_t region; (region = rp_alone_number()) != 0;) {
        uint64_t at = rp_alone_number();
        size_t length;
        const uint8_t *content = rp_data_get_content(rp_data_reader, &length);
        struct region *r = w ? w->regions : NULL;
        for (uint64_t i = 1; r && i < region; i++)
            r = r->next;
        if (!content)
            return;
        if (!r || at > r->memory.size || length > r->memory.size - at) {
            rp_error("not the recorded run: others wrote into a window that is not there");
            rp_data_end_job(121);
        }
        memcpy(r->memory.own + at, content, length);
        if (r->memory.shadow) {
            memcpy(r->memory.shadow + at, content, length);
            rp_trace_change(rp_alone_calling(), w->number, r->member, r->origin + at, content, length);
        }
    }
}

void rp_alone_window(void)
{
    uint64_t number = rp_alone_number();
    struct window *w = windows;

    while (w && w->number != number)
        w = w->next;
    if (rp_traced && w)
        look(rp_alone_calling(), w);
    take_runs(w);
}

/* Windows come and go. Alone, a window of this process stands for the real one. */

static int rank_in(MPI_Comm comm)
{
    int rank = -1;

    rp_pmpi.Comm_rank(comm, &rank);
    return rank;
}

static struct window *record_window(MPI_Win win, MPI_Comm comm, int disp_unit)
{
    struct window *w = add_window(win, rank_in(comm));

    w->disp_unit = disp_unit;
    rp_data_note_windows(rp_data_writer);
    order_window(comm);
    return w;
}

static int alone_window(const struct rp_function *function, MPI_Aint size, MPI_Comm comm, MPI_Win *win, struct window **made)
{
    int rc = rp_alone_begin(function, true, rp_check(0, size));
    void *unused;

    if (rc != MPI_SUCCESS) {
        rp_alone_end();
        rp_alone_error_comm(comm, rc);
        return rc;
    }
    rp_data_off++;
    rc = rp_pmpi.Win_allocate(1, 1, rp_constant.info_null, rp_constant.self, &unused, win);
    rp_data_off--;
    if (rc != MPI_SUCCESS) {
        rp_error("%s: no window of this process can stand for the real one", function->name);
        rp_data_end_job(125);
    }
    *made = add_window(*win, -1);
    return rc;
}

/* Of memory of the program's own that is about to be part of a window, what is in it. */
static uint8_t *take_shadow(void *base, size_t size, void **owned)
{
    *owned = NULL;
    if (rp_tracked_in_place())
        return rp_track_add(base, size, true);
    uint8_t *shadow = allocate_like(base, size, owned);
    return size > 0 ? memcpy(shadow, base, size) : shadow;
}

static void drop_shadow(const void *base, size_t size, void *owned)
{
    if (rp_tracked_in_place())
        rp_track_remove(base, size);
    free(owned);
}

static struct region *alone_region(struct window *w, void *base, size_t size)
{
    struct region *r = add_region(w, base, base, size);

    rp_track_add(base, size, true);
    r->tracked = rp_tracked();
    return r;
}

/* A window may be made of memory that is in another window already: what is written through one is there for the other, so both have the same public memory. */
static struct region *find_lender(const void *base, size_t size)
{
    for (struct window *w = windows; w; w = w->next)
        for (struct region *r = w->regions; r; r = r->next)
            if (r->memory.own != r->memory.public && (const uint8_t *)base >= r->memory.own && (const uint8_t *)base + size <= r->memory.own + r->memory.size)
                return r->lender ? r->lender : r;
    return NULL;
}

static int make_in_lender(const struct rp_next *next, struct region *lender, void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    size_t at = (size_t)((uint8_t *)base - lender->memory.own);

    rp_mirror_out(&lender->memory, at, (size_t)size);
    rp_data_off++;
    int rc = next->Win_create(lender->memory.public + at, size, disp_unit, info, comm, win);
    rp_data_off--;
    rp_record_begin(&rp_f_Win_create, true, rp_check(0, size), rc);
    rp_record_end();
    if (rc != MPI_SUCCESS)
        return rc;
    struct window *w = record_window(*win, comm, disp_unit);
    struct region *r = add_region(w, base, lender->memory.public + at, (size_t)size);
    w->base = base;
    r->memory.shadow = lender->memory.shadow + at;
    r->lender = lender;
    r->tracked = rp_tracked();
    lender->borrowers++;
    rp_track_part(&r->memory);
    return rc;
}

int rp_record_Win_create(const struct rp_next *next, void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    size_t bytes = size > 0 ? (size_t)size : 0;
    void *owned[2] = {NULL, NULL};
    struct region *lender = bytes > 0 && !rp_tracked_in_place() ? find_lender(base, bytes) : NULL;

    if (lender)
        return make_in_lender(next, lender, base, size, disp_unit, info, comm, win);
    uint8_t *shadow = take_shadow(base, bytes, &owned[0]), *public = rp_tracked_in_place() ? base : allocate_like(base, bytes, &owned[1]);
    if (bytes > 0 && public != base)
        memcpy(public, base, bytes);
    rp_data_off++;
    int rc = next->Win_create(public, size, disp_unit, info, comm, win);
    rp_data_off--;
    rp_record_begin(&rp_f_Win_create, true, rp_check(0, size), rc);
    rp_record_end();
    if (rc == MPI_SUCCESS) {
        struct window *w = record_window(*win, comm, disp_unit);
        struct region *r = add_region(w, base, public, bytes);
        w->base = base;
        r->memory.shadow = shadow;
        r->tracked = rp_tracked();
        memcpy(r->owned, owned, sizeof owned);
        rp_track_part(&r->memory);
    } else {
        drop_shadow(base, bytes, owned[0]);
        free(owned[1]);
    }
    return rc;
}

int rp_alone_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct window *w = NULL;
    int rc = alone_window(&rp_f_Win_create, size, comm, win, &w);

    (void)info;
    if (w) {
        rp_alone_end();
        alone_region(w, base, (size_t)size);
        w->base = base;
        tell_window(w, &rp_f_Win_create, disp_unit);
    }
    return rc;
}

/* Programs tell each other where their windows are, and find their own among these: alone it is to be there, too. `public` is where others write, or NULL. */
static void take_own(struct region *r, const void *public)
{
    r->memory.own = (uintptr_t)public % sizeof(uint64_t) == 0 ? rp_steady_take(r->memory.size) : NULL;
    r->steady = r->memory.own;
    if (!r->steady)
        r->memory.own = allocate_like(public, r->memory.size, &r->owned[0]);
}

/* Others may be here before us: what the memory has in the beginning is told. */
int rp_record_Win_allocate(const struct rp_next *next, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    void *public = NULL;

    rp_data_off++;
    int rc = next->Win_allocate(size, disp_unit, info, comm, &public, win);
    rp_data_off--;
    rp_record_begin(&rp_f_Win_allocate, true, rp_check(0, size), rc);
    if (rc == MPI_SUCCESS) {
        struct window *w = record_window(*win, comm, disp_unit);
        struct region *r = add_region(w, NULL, public, (size_t)size);
        struct news news = {.begun = true};
        w->allocated = true;
        r->tracked = rp_tracked();
        r->memory.own = public;
        if (!rp_tracked_in_place())
            take_own(r, public);
        r->memory.shadow = rp_tracked_in_place() ? rp_track_add(public, (size_t)size, false) : allocate_like(public, (size_t)size, &r->owned[1]);
        rp_track_part(&r->memory);
        rp_mirror_in(&r->memory, 0, (size_t)size, put_run, &news);
        rp_record_number(0);
        *(void **)base = w->base = r->memory.own;
    }
    rp_record_end();
    return rc;
}

int rp_alone_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    struct window *w = NULL;
    int rc = alone_window(&rp_f_Win_allocate, size, comm, win, &w);

    (void)info;
    if (w) {
        struct region *r = add_region(w, NULL, NULL, (size_t)size);
        take_own(r, NULL);
        *(void **)base = w->base = r->memory.public = r->memory.own;
        rp_track_add(w->base, (size_t)size, true);
        r->tracked = rp_tracked();
        tell_window(w, &rp_f_Win_allocate, disp_unit); /* what it has now others wrote already */
        take_runs(w);
        rp_alone_end();
    }
    return rc;
}

/* Shared by processes of one host, which load and store in it without any call. Unless the program is tracked, that is of use only if it does so between calls that synchronise, and only its user can tell. */

static void check_shared(void)
{
    if (rp_tracked() || rp_list_has(rp_setting("REPRISE_ALLOW"), "MPI_Win_allocate_shared"))
        return;
    rp_error("MPI_Win_allocate_shared: what others store there is seen without any MPI call, which cannot be replayed, so the program is stopped here; if it reads only what was stored before a barrier, fence, MPI_Win_sync or message, "
             "'--allow MPI_Win_allocate_shared' records it; else compile it by 'reprise-cc --track'");
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}

static struct member member_of(MPI_Win win, int rank)
{
    struct member m = {0};

    rp_pmpi.Win_shared_query(win, rank, &m.size, &m.disp_unit, &m.base);
    return m;
}

/* The lowest place that any of them has, and how far they all reach. */
static char *lowest_base(MPI_Win win, int members, size_t *span)
{
    char *lowest = NULL, *end = NULL;

    for (int i = 0; i < members; i++) {
        struct member m = member_of(win, i);
        if (m.size > 0 && (!lowest || (char *)m.base < lowest))
            lowest = m.base;
        if (m.size > 0 && (!end || (char *)m.base + m.size > end))
            end = (char *)m.base + m.size;
    }
    *span = (size_t)(end - lowest);
    return lowest;
}

/* Where each member's part is, as seen from the lowest; and what is in it. */
static void put_members(struct window *w, int members)
{
    char *lowest = lowest_base(w->win, members, &w->span);
    void *owned[2] = {NULL, NULL};
    uint8_t *own = (uint8_t *)lowest, *shadow = NULL;
    struct news news = {.begun = true};

    if (rp_track_parted) {
        own = allocate_like(lowest, w->span, &owned[0]);
        shadow = allocate_like(lowest, w->span, &owned[1]);
        rp_track_part(&(struct rp_mirror){own, (uint8_t *)lowest, shadow, w->span});
        w->to_own = (uintptr_t)own - (uintptr_t)lowest;
    } else {
        shadow = rp_track_add(own, w->span, false);
    }
    w->whole = own;

    rp_record_number((uint64_t)members);
    for (int i = 0; i < members; i++) {
        struct member m = member_of(w->win, i);
        rp_record_number((uint64_t)m.size);
        rp_record_number((uint64_t)m.disp_unit);
        rp_record_number(m.size > 0 ? (uint64_t)((char *)m.base - lowest) : 0);
        struct region *r = add_region(w, (void *)((uintptr_t)m.base + w->to_own), m.base, (size_t)m.size);
        if (shadow && i == 0)
            memcpy(r->owned, owned, sizeof owned);
        r->memory.shadow = shadow && m.size > 0 ? shadow + ((char *)m.base - lowest) : shadow ? shadow : allocate_like(m.base, (size_t)m.size, &r->owned[0]);
    }
    for (struct region *r = w->regions; r; r = r->next, news.region++)
        rp_mirror_in(&r->memory, 0, r->memory.size, put_run, &news);
    rp_record_number(0);
}

int rp_record_Win_allocate_shared(const struct rp_next *next, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    int members = 0;

    check_shared();
    rp_data_off++;
    int rc = next->Win_allocate_shared(size, disp_unit, info, comm, base, win);
    rp_data_off--;
    rp_record_begin(&rp_f_Win_allocate_shared, true, rp_check(0, size), rc);
    if (rc == MPI_SUCCESS) {
        struct window *w = record_window(*win, comm, disp_unit);
        w->allocated = w->shared = true;
        rp_pmpi.Comm_size(comm, &members);
        rp_record_number((uint64_t)w->self);
        put_members(w, members);
        *(void **)base = w->base = (void *)((uintptr_t)*(void **)base + w->to_own);
    }
    rp_record_end();
    return rc;
}

static void take_members(struct window *w)
{
    uint64_t self = rp_alone_number(), count = rp_alone_number(), span = 0;

    rp_alone_end();
    w->members = allocate((count + 1) * sizeof *w->members);
    w->member_count = (int)count;
    for (uint64_t i = 0; i < count; i++) {
        w->members[i].size = (MPI_Aint)rp_alone_number();
        w->members[i].disp_unit = (int)rp_alone_number();
        uint64_t at = rp_alone_number();
        w->members[i].base = (void *)(uintptr_t)at;
        span = at + (uint64_t)w->members[i].size > span ? at + (uint64_t)w->members[i].size : span;
    }
    rp_alone_end();
    void *owned;
    uint8_t *all = allocate_like(NULL, span, &owned);
    rp_track_add(w->whole = all, w->span = span, false);
    for (uint64_t i = 0; i < count; i++) {
        w->members[i].base = all + (uintptr_t)w->members[i].base;
        struct region *r = add_region(w, w->members[i].base, w->members[i].base, (size_t)w->members[i].size);
        r->member = (int)i;
        r->owned[0] = i == 0 ? owned : NULL;
    }
    w->base = self < count ? w->members[self].base : NULL;
}

int rp_alone_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    struct window *w = NULL;
    int rc = alone_window(&rp_f_Win_allocate_shared, size, comm, win, &w);

    (void)info;
    if (w) {
        take_members(w);
        w->shared = true;
        tell_window(w, &rp_f_Win_allocate_shared, disp_unit); /* what it has now others wrote already */
        take_runs(w);
        rp_alone_end();
        *(void **)base = w->base;
    }
    return rc;
}

int rp_record_Win_shared_query(const struct rp_next *next, MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *base)
{
    int rc = next->Win_shared_query(win, rank, size, disp_unit, base); /* always the same */
    const struct window *w = find(win);

    if (rc == MPI_SUCCESS && w && *(void **)base)
        *(void **)base = (void *)((uintptr_t)*(void **)base + w->to_own);
    return rc;
}

int rp_alone_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *base)
{
    const struct window *w = find(win);

    if (!w || !w->members)
        return rp_pmpi.Win_shared_query(win, rank, size, disp_unit, base);
    for (int i = 0; i < w->member_count && rank == MPI_PROC_NULL; i++) /* the first that has any */
        if (w->members[i].size > 0)
            rank = i;
    struct member none = {0}, *m = rank >= 0 && rank < w->member_count ? &w->members[rank] : &none;
    *size = m->size;
    *disp_unit = m->disp_unit;
    *(void **)base = m->base;
    return MPI_SUCCESS;
}

int rp_record_Win_create_dynamic(const struct rp_next *next, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    rp_data_off++;
    int rc = next->Win_create_dynamic(info, comm, win);
    rp_data_off--;
    rp_record_begin(&rp_f_Win_create_dynamic, true, rp_check(0, 0), rc);
    rp_record_end();
    if (rc == MPI_SUCCESS)
        record_window(*win, comm, 1)->dynamic = true;
    return rc;
}

int rp_alone_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct window *w = NULL;
    int rc = alone_window(&rp_f_Win_create_dynamic, 0, comm, win, &w);

    (void)info;
    if (w) {
        rp_alone_end();
        w->dynamic = true;
        tell_window(w, &rp_f_Win_create_dynamic, 1);
    }
    return rc;
}

/* A region comes after the entry of the call, and goes after it: alone, too. What others write meanwhile is told later. */
int rp_record_Win_attach(const struct rp_next *next, MPI_Win win, void *base, MPI_Aint size)
{
    struct window *w = find(win);
    size_t bytes = size > 0 ? (size_t)size : 0;
    void *owned;
    uint8_t *shadow = take_shadow(base, bytes, &owned);

    rp_data_off++;
    int rc = next->Win_attach(win, base, size);
    rp_data_off--;
    rp_record_begin(&rp_f_Win_attach, true, rp_check(0, size), rc);
    rp_record_end();
    if (rc == MPI_SUCCESS && w) {
        struct region *r = add_region(w, base, base, bytes);
        r->memory.shadow = shadow;
        r->tracked = rp_tracked_in_place();
        r->owned[0] = owned;
        if (order.log)
            rp_order_attach(order.log, w->number, (uintptr_t)base, bytes);
    } else {
        drop_shadow(base, bytes, owned);
    }
    return rc;
}

static void detach(struct window *w, const void *base)
{
    for (struct region **at = &w->regions; *at; at = &(*at)->next)
        if ((*at)->memory.own == base) {
            struct region *r = *at;
            *at = r->next;
            w->range_count = 0;
            free_region(r);
            return;
        }
}

/* All that the memory has now is the owner's, and public. */
static void tell_attached(struct window *w, struct region *r)
{
    if (!rp_traced || !rp_trace_attached(w->number, w->attaches++, r->memory.size, &r->origin))
        return;
    r->memory.shadow = allocate_like(r->memory.own, r->memory.size, &r->owned[1]);
    for (size_t i = 0; i < r->memory.size; i++)
        r->memory.shadow[i] = (uint8_t)~r->memory.own[i];
    if (rp_trace_stores(&rp_f_Win_attach, w->number, -1, r->origin, rp_data_read_entries(rp_data_reader), r->memory.own, r->memory.shadow, r->memory.size))
        rp_trace_out(&rp_f_Win_attach, w->number);
}

int rp_alone_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    int rc = rp_alone_begin(&rp_f_Win_attach, true, rp_check(0, size));
    struct window *w = find(win);

    rp_alone_end();
    if (rc == MPI_SUCCESS && w)
        tell_attached(w, rp_track_parted ? add_region(w, base, base, (size_t)size) : alone_region(w, base, (size_t)size));
    return rc;
}

int rp_record_Win_detach(const struct rp_next *next, MPI_Win win, const void *base)
{
    struct window *w = find(win);

    rp_windows_in(win);
    rp_data_off++;
    int rc = next->Win_detach(win, base);
    rp_data_off--;
    rp_record_begin(&rp_f_Win_detach, false, 0, rc);
    rp_record_end();
    if (rc == MPI_SUCCESS && w)
        detach(w, base);
    return rc;
}

int rp_alone_Win_detach(MPI_Win win, const void *base)
{
    if (rp_traced)
        rp_windows_look(&rp_f_Win_detach, win, true);
    int rc = rp_alone_begin(&rp_f_Win_detach, false, 0);
    struct window *w = find(win);

    rp_alone_end();
    if (rc == MPI_SUCCESS && w)
        detach(w, base);
    return rc;
}

/* What others wrote until the end is the program's, unless the memory goes with the window. */
int rp_record_Win_free(const struct rp_next *next, MPI_Win *win)
{
    struct window *w = find(*win);
    MPI_Win handle = *win;

    rp_windows_out(handle);
    if (w)
        w->ending = true; /* attribute functions of the program may make calls */
    int rc = next->Win_free(win);
    if (rc == MPI_SUCCESS && w) {
        if (!w->allocated)
            all_in(w);
        remove_window(handle);
    }
    rp_record_begin(&rp_f_Win_free, false, 0, rc);
    rp_record_end();
    return rc;
}

int rp_alone_Win_free(MPI_Win *win)
{
    MPI_Win handle = *win;

    if (rp_traced)
        rp_windows_look(&rp_f_Win_free, handle, true);
    int made = rp_pmpi.Win_free(win);
    int rc = rp_alone_begin(&rp_f_Win_free, false, 0);

    (void)made;
    rp_alone_end();
    remove_window(handle);
    return rc;
}

/* Attributes that MPI itself sets; all others are the program's own. */

static bool is_predefined(int keyval)
{
    return keyval == MPI_WIN_BASE || keyval == MPI_WIN_SIZE || keyval == MPI_WIN_DISP_UNIT || keyval == MPI_WIN_CREATE_FLAVOR || keyval == MPI_WIN_MODEL;
}

int rp_record_Win_get_attr(const struct rp_next *next, MPI_Win win, int keyval, void *value, int *flag)
{
    int rc = next->Win_get_attr(win, keyval, value, flag);
    struct window *w = find(win);

    if (!is_predefined(keyval) || !w)
        return rc;
    rp_record_begin(&rp_f_Win_get_attr, true, rp_check(0, keyval), rc);
    rp_record_number(rc == MPI_SUCCESS && *flag);
    if (rc == MPI_SUCCESS && *flag && keyval == MPI_WIN_BASE)
        *(void **)value = w->base;
    else if (rc == MPI_SUCCESS && *flag)
        rp_data_put_signed(rp_data_writer, keyval == MPI_WIN_SIZE ? (int64_t) * *(MPI_Aint **)value : **(int **)value);
    rp_record_end();
    return rc;
}

int rp_alone_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    struct window *w = find(win);

    if (!is_predefined(keyval) || !w)
        return rp_pmpi.Win_get_attr(win, keyval, value, flag);
    int rc = rp_alone_begin(&rp_f_Win_get_attr, true, rp_check(0, keyval));
    *flag = (int)rp_alone_number();
    if (*flag && keyval == MPI_WIN_BASE) {
        *(void **)value = w->base;
    } else if (*flag && keyval == MPI_WIN_SIZE) {
        w->size = (MPI_Aint)rp_data_get_signed(rp_data_reader);
        *(MPI_Aint **)value = &w->size;
    } else if (*flag) {
        int *slot = keyval == MPI_WIN_DISP_UNIT ? &w->disp_unit : keyval == MPI_WIN_MODEL ? &w->model : &w->flavor;
        *slot = (int)rp_data_get_signed(rp_data_reader);
        *(int **)value = slot;
    }
    rp_alone_end();
    return rc;
}
