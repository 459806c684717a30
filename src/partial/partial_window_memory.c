/* SPDX-License-Identifier: MIT */
/*
 * One-sided communication (OPR, section 0.1). Other ranks write into a rank's windows while it
 * runs. So a recorded rank keeps two copies of each window: a public one for remote writers, a
 * private one for the program (window/shadow.h). The program's stores go out, and the changes of
 * others come in, at calls of this rank and nowhere else. Only what came in is written down, by an
 * entry `changes` before that of the call: a partial replay sees the same changes at the same
 * calls. The entries of the calls say only what they returned.
 *
 * There is one copy only of memory that is attached to a dynamic window, since others know its
 * address, and of memory that all members of a window share, unless the program is tracked by
 * calls. Everything that changed there since the last look is written down, whoever stored it.
 *
 * Where memory is looked at (docs/model.md says what MPI promises):
 * - all of a window, where MPI says that changes must be visible: fence, wait, lock of this rank,
 *   lock_all, sync; and going out at post, unlock of this rank, unlock_all;
 * - all of all windows, where the program communicates with others by a message or a collective
 *   call: in the unified model, what was written before is visible then;
 * - what this rank itself updated in its own window, when the update is complete: flush, unlock.
 *   Before an access to its own window, its stores there go out;
 * - all of all windows at any other call, but so seldom that it takes a small part of the time: in
 *   the unified model changes become visible at some time.
 */
#include "partial/partial_window_memory.h"

#include "base/diagnostics.h"
#include "partial/partial_entries.h"
#include "window/byte_planes.h"

const struct rp_function rp_f_window = {RP_WINDOW_NUMBER, "changes"};

struct incoming {
    const struct rp_window *window;
    uint64_t time;   /* when it was looked for */
    uint64_t region; /* number of the region */
    bool begun;      /* there is an entry */
};

static void put_change(void *data, size_t at, const uint8_t *bytes, size_t length, unsigned lanes)
{
    enum { SHORT = 64 }; /* to pack less is not worth the byte that names the lanes */
    struct incoming *incoming = data;
    bool is_packed = lanes != RP_LANES_ALL && length >= SHORT;
    uint8_t packed[RP_MIRROR_RUN];

    if (!incoming->begun) {
        rp_marks_put(incoming->time);
        rp_data_begin(rp_partial.writer, rp_f_window.number, rp_f_window.name);
        rp_partial_record_number(incoming->window->number);
    }
    incoming->begun = true;
    rp_partial_record_number((incoming->region + 1) << 1 | is_packed);
    rp_partial_record_number(at);
    if (!is_packed) {
        rp_data_put_content(rp_partial.writer, bytes, length);
        return;
    }
    rp_partial_record_number(lanes);
    rp_byte_planes_pack(packed, bytes, length, lanes);
    rp_data_put_content(rp_partial.writer, packed, rp_byte_planes_size(length, lanes));
}

static void put_beginning(void *data, size_t at, const uint8_t *bytes, size_t length,
                          unsigned lanes)
{
    (void)lanes;
    rp_partial_record_number(*(const uint64_t *)data + 1);
    rp_partial_record_number(at);
    rp_data_put_content(rp_partial.writer, bytes, length);
}

static void end_entry(const struct incoming *incoming)
{
    if (!incoming->begun)
        return;
    rp_partial_record_number(0);
    rp_partial_record_end();
}

struct look {
    struct rp_window_region *region;
    size_t at, length;
    struct incoming *incoming;
};

static void look_in(void *data)
{
    struct look *look = data;

    rp_shadow_in(&look->region->memory, look->at, look->length, put_change, look->incoming);
}

static void look_out(void *data)
{
    struct look *look = data;

    rp_shadow_out(&look->region->memory, look->at, look->length);
}

/* `incoming`: records what others wrote; NULL: makes the program's stores public. */
static void look_at(struct rp_window_region *r, size_t at, size_t length, struct incoming *incoming)
{
    struct look look = {r, at, length, incoming};

    rp_window_region_visit(r, incoming ? look_in : look_out, &look);
}

void rp_window_put(struct rp_window *w)
{
    uint64_t region = 0;

    for (struct rp_window_region *r = w->regions; r; r = r->next, region++)
        rp_shadow_in(&r->memory, 0, r->memory.size, put_beginning, &region);
    rp_partial_record_number(0);
}

static void take_changes_in(struct rp_window *w)
{
    struct incoming incoming = {.window = w, .time = rp_marks_now()};

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (struct rp_window_region *r = w->regions; r; r = r->next, incoming.region++)
        look_at(r, 0, r->memory.size, &incoming);
    end_entry(&incoming);
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
        take_changes_in(w);
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
    struct incoming incoming = {.window = w, .time = rp_marks_now()};

    if (!w || (w->range_count == 0 && !w->shared))
        return;
    if (w->range_count > RP_RANGES || w->shared) {
        take_changes_in(w);
    } else {
        for (size_t i = 0; i < w->range_count; i++) {
            incoming.region = number_of(w, w->ranges[i].region);
            look_at(w->ranges[i].region, w->ranges[i].at, w->ranges[i].length, &incoming);
        }
        end_entry(&incoming);
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
        MPI_Aint from = first +
                        (w->dynamic ? disp - (MPI_Aint)(intptr_t)r->memory.own : disp * w->unit),
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

void rp_windows_all_out(void)
{
    for (struct rp_window *w = rp_windows_first(); w; w = w->next)
        if (!w->ending)
            all_out(w);
    if (rp_windows.symmetric)
        rp_windows.symmetric->out();
}

void rp_windows_all_in(void)
{
    for (struct rp_window *w = rp_windows_first(); w; w = w->next)
        if (!w->ending)
            take_changes_in(w);
    if (rp_windows.symmetric)
        rp_windows.symmetric->in();
}

static uint64_t size_of_all(void)
{
    uint64_t size = 0;

    for (const struct rp_window *w = rp_windows_first(); w; w = w->next)
        for (const struct rp_window_region *r = w->regions; r; r = r->next)
            size += r->memory.size;
    return size;
}

static struct {
    uint64_t next, cost; /* when the next one may be, and how long they take */
} glance;

void rp_windows_glance(void)
{
    enum { SELDOM = 64 }; /* times as long as it takes */

    if (rp_windows.count == 0)
        return;
    uint64_t before = rp_marks_glance(), entries = rp_data_entries(rp_partial.writer);
    if (before < glance.next)
        return;
    rp_windows_all_out();
    rp_windows_all_in();
    uint64_t after = rp_marks_glance();
    if (rp_data_entries(rp_partial.writer) > entries)
        rp_marks_put_noted();
    uint64_t took = after - before, most = 2 * glance.cost + 1000 + size_of_all() / 4;
    glance.cost = took < most ? took : most; /* the process may have slept meanwhile */
    glance.next = before + took + SELDOM * glance.cost;
}
