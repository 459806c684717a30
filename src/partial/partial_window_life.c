/* SPDX-License-Identifier: MIT */
/*
 * How windows are made and freed. Recording, each gets memory of its own beside that of the
 * program, unless others know its address. Feeding, a window of this process stands for the real
 * one, and only the program's memory is used. partial_window_memory.c handles what is in the
 * memory; partial_shared.c makes windows that all members share.
 */
#include <stdlib.h>
#include <string.h>

#include "base/device_memory.h"
#include "base/diagnostics.h"
#include "base/fixed_address.h"
#include "partial/partial_access_trace.h"
#include "partial/partial_entries.h"
#include "partial/partial_initial_memory.h"
#include "partial/partial_tracking.h"
#include "partial/partial_window_life.h"
#include "partial/partial_window_feed.h"
#include "partial/partial_window_memory.h"
#include "peers/peer_reprise.h"
#include "reprise.h"
#include "hand.h"

static int rank_in(MPI_Comm comm)
{
    int rank = -1;

    rp_pmpi.Comm_rank(comm, &rank);
    return rank;
}

struct rp_window *rp_window_record(MPI_Win win, MPI_Comm comm, MPI_Aint unit)
{
    struct rp_window *w = rp_window_add(win, rank_in(comm));

    w->unit = unit;
    rp_marks_window(comm);
    return w;
}

void rp_window_expect(void)
{
    rp_data_note_windows(rp_partial.writer);
}

int rp_window_stand_in(const struct rp_function *function, MPI_Aint size, MPI_Comm comm,
                       MPI_Win *win, struct rp_window **made)
{
    int rc = rp_partial_feed_begin(function, true, rp_check(0, size));
    void *unused;

    if (rc != MPI_SUCCESS) {
        rp_partial_feed_end();
        rp_partial_feed_error_comm(comm, rc);
        return rc;
    }
    rp_data_off++;
    rc = rp_pmpi.Win_allocate(1, 1, rp_constant.info_null, rp_constant.self, &unused, win);
    rp_data_off--;
    if (rc != MPI_SUCCESS) {
        rp_error("%s: no window of this process can stand for the real one", function->name);
        rp_data_end_job(REPRISE_EXIT_INTERNAL);
    }
    *made = rp_window_add(*win, -1);
    return rc;
}

/* What others write into a window is found by comparing its memory with copies. */
static void refuse_device(const char *function, const void *base, size_t size)
{
    if (size == 0 || !rp_is_device(base))
        return;
    rp_error("%s: the window is in device memory; what others write there cannot be recorded for a "
             "replay alone, so the program is stopped here ('record --ranks none' leaves it out)",
             function);
    if (reprise_refused)
        reprise_refused(function);
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}

/* Records the content of memory of the program that is about to be part of a window. The memory may
 * be in another window: what others wrote there is copied in before. */
static uint8_t *take_shadow(void *base, size_t size, void **owned)
{
    uint8_t *shadow;

    *owned = NULL;
    if (rp_windows.count)
        rp_windows_all_in();
    if (rp_tracked_in_place()) {
        shadow = rp_track_add(base, size, true);
    } else {
        shadow = rp_allocate_like(base, size, owned);
        if (size > 0)
            memcpy(shadow, base, size);
    }
    if (size > 0)
        rp_initial_memory_put(shadow, size);
    return shadow;
}

static void drop_shadow(const void *base, size_t size, void *owned)
{
    if (rp_tracked_in_place())
        rp_track_remove(base, size);
    free(owned);
}

static struct rp_window_region *feed_region(struct rp_window *w, void *base, size_t size)
{
    struct rp_window_region *r = rp_window_region_add(w, base, base, size);

    rp_track_add(base, size, true);
    r->tracked = rp_tracked();
    r->programs = true;
    return r;
}

/* MPI makes a window of memory that is there. */
static int make(const struct rp_next *next, const struct rp_making *m, void *public, MPI_Win *win)
{
    bool is_open = rp_real_begin();
    int rc = m->make(next, m, public, win);
    rp_real_end(is_open);
    rp_partial_record_begin(m->function, true, rp_check(0, m->size), rc);
    rp_partial_record_end();
    return rc;
}

/* A window may be made of memory that is in another window already: what is written through one is
 * there for the other, so both have the same public memory. */
static struct rp_window_region *find_lender(const void *base, size_t size)
{
    for (struct rp_window *w = rp_windows_first(); w; w = w->next)
        for (struct rp_window_region *r = w->regions; r; r = r->next)
            if (r->memory.own != r->memory.public && (const uint8_t *)base >= r->memory.own &&
                (const uint8_t *)base + size <= r->memory.own + r->memory.size)
                return r->lender ? r->lender : r;
    return NULL;
}

static int make_in_lender(const struct rp_next *next, struct rp_window_region *lender,
                          const struct rp_making *m, void *base, MPI_Win *win)
{
    size_t at = (size_t)((uint8_t *)base - lender->memory.own), size = (size_t)m->size;

    rp_shadow_out(&lender->memory, at, size);
    int rc = make(next, m, lender->memory.public + at, win);
    if (rc != MPI_SUCCESS)
        return rc;
    struct rp_window *w = rp_window_record(*win, m->comm, m->unit);
    struct rp_window_region *r = rp_window_region_add(w, base, lender->memory.public + at, size);
    w->base = base;
    r->memory = rp_shadow_part(&lender->memory, at, size);
    r->lender = lender;
    r->programs = lender->programs;
    r->tracked = rp_tracked();
    lender->borrowers++;
    rp_track_part(&r->memory);
    return rc;
}

int rp_partial_record_Win_create(const struct rp_next *next, const struct rp_making *m, void *base,
                                 MPI_Win *win)
{
    size_t bytes = m->size > 0 ? (size_t)m->size : 0;
    void *owned[2] = {NULL, NULL};
    struct rp_window_region *lender =
        bytes > 0 && !rp_tracked_in_place() ? find_lender(base, bytes) : NULL;

    refuse_device(m->function->name, base, bytes);
    rp_window_expect();
    if (lender)
        return make_in_lender(next, lender, m, base, win);
    uint8_t *shadow = take_shadow(base, bytes, &owned[0]),
            *public = rp_tracked_in_place() ? base : rp_allocate_like(base, bytes, &owned[1]);
    if (bytes > 0 && public != base)
        memcpy(public, base, bytes);
    int rc = make(next, m, public, win);
    if (rc == MPI_SUCCESS) {
        struct rp_window *w = rp_window_record(*win, m->comm, m->unit);
        struct rp_window_region *r = rp_window_region_add(w, base, public, bytes);
        w->base = base;
        r->programs = true;
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

int rp_partial_feed_Win_create(const struct rp_making *m, void *base, MPI_Win *win)
{
    struct rp_window *w = NULL;

    rp_initial_memory_expect(base, m->size > 0 ? (size_t)m->size : 0);
    int rc = rp_window_stand_in(m->function, m->size, m->comm, win, &w);
    rp_initial_memory_over();

    if (w) {
        rp_partial_feed_end();
        feed_region(w, base, (size_t)m->size);
        w->base = base;
        rp_window_tell(w, m->function, m->unit);
    }
    return rc;
}

/* Processes exchange the addresses of their windows, and look for their own among these: a partial
 * replay must find it, too. `public` is where others write, or NULL. */
static void take_own(struct rp_window_region *r, const void *public)
{
    r->memory.own =
        (uintptr_t) public % sizeof(uint64_t) == 0 ? rp_fixed_take(r->memory.size) : NULL;
    r->steady = r->memory.own;
    if (!r->steady)
        r->memory.own = rp_allocate_like(public, r->memory.size, &r->owned[0]);
}

/* Others may write before we look: so the content of the memory in the beginning is recorded. */
int rp_partial_record_Win_allocate(const struct rp_next *next, const struct rp_making *m,
                                   void *base, MPI_Win *win)
{
    size_t size = (size_t)m->size;
    void *public = NULL;

    rp_window_expect();
    bool is_open = rp_real_begin();
    int rc = m->make(next, m, &public, win);
    rp_real_end(is_open);
    rp_partial_record_begin(m->function, true, rp_check(0, m->size), rc);
    if (rc == MPI_SUCCESS) {
        struct rp_window *w = rp_window_record(*win, m->comm, m->unit);
        struct rp_window_region *r = rp_window_region_add(w, NULL, public, size);
        w->allocated = true;
        r->tracked = rp_tracked();
        r->memory.own = public;
        if (!rp_tracked())
            r->memory.stored = r->owned[2] = rp_allocate(rp_shadow_lines(size));
        if (!rp_tracked_in_place())
            take_own(r, public);
        r->memory.shadow = rp_tracked_in_place() ? rp_track_add(public, size, false)
                                                 : rp_allocate_like(public, size, &r->owned[1]);
        rp_track_part(&r->memory);
        rp_window_put(w);
        *(void **)base = w->base = r->memory.own;
    }
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Win_allocate(const struct rp_making *m, void *base, MPI_Win *win)
{
    struct rp_window *w = NULL;
    int rc = rp_window_stand_in(m->function, m->size, m->comm, win, &w);

    if (w) {
        struct rp_window_region *r = rp_window_region_add(w, NULL, NULL, (size_t)m->size);
        take_own(r, NULL);
        *(void **)base = w->base = r->memory.public = r->memory.own;
        rp_track_add(w->base, (size_t)m->size, true);
        r->tracked = rp_tracked();
        rp_window_tell(w, m->function, m->unit); /* what it has now others wrote already */
        rp_window_take(w);
        rp_partial_feed_end();
    }
    return rc;
}

int rp_partial_record_Win_create_dynamic(const struct rp_next *next, MPI_Info info, MPI_Comm comm,
                                         MPI_Win *win)
{
    rp_window_expect();
    bool is_open = rp_real_begin();
    int rc = next->Win_create_dynamic(info, comm, win);
    rp_real_end(is_open);
    rp_partial_record_begin(&rp_f_Win_create_dynamic, true, rp_check(0, 0), rc);
    rp_partial_record_end();
    if (rc == MPI_SUCCESS)
        rp_window_record(*win, comm, 1)->dynamic = true;
    return rc;
}

int rp_partial_feed_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct rp_window *w = NULL;
    int rc = rp_window_stand_in(&rp_f_Win_create_dynamic, 0, comm, win, &w);

    (void)info;
    if (w) {
        rp_partial_feed_end();
        w->dynamic = true;
        rp_window_tell(w, &rp_f_Win_create_dynamic, 1);
    }
    return rc;
}

/* A region is added after the entry of the call, and removed after it: feeding, too. What others
 * write meanwhile is recorded later. */
int rp_partial_record_Win_attach(const struct rp_next *next, MPI_Win win, void *base, MPI_Aint size)
{
    struct rp_window *w = rp_window_find(win);
    size_t bytes = size > 0 ? (size_t)size : 0;
    void *owned;

    refuse_device("MPI_Win_attach", base, bytes);
    uint8_t *shadow = take_shadow(base, bytes, &owned);

    bool is_open = rp_real_begin();
    int rc = next->Win_attach(win, base, size);
    rp_real_end(is_open);
    rp_partial_record_begin(&rp_f_Win_attach, true, rp_check(0, size), rc);
    rp_partial_record_end();
    if (rc == MPI_SUCCESS && w) {
        struct rp_window_region *r = rp_window_region_add(w, base, base, bytes);
        r->programs = true;
        r->memory.shadow = shadow;
        r->tracked = rp_tracked_in_place();
        r->owned[0] = owned;
        rp_marks_attached(w->number, r->memory.own, r->memory.size);
    } else {
        drop_shadow(base, bytes, owned);
    }
    return rc;
}

static void detach(struct rp_window *w, const void *base)
{
    for (struct rp_window_region **at = &w->regions; *at; at = &(*at)->next)
        if ((*at)->memory.own == base) {
            struct rp_window_region *r = *at;
            *at = r->next;
            w->range_count = 0;
            rp_window_region_free(r);
            return;
        }
}

/* All that the memory has now is the owner's, and public. */
static void tell_attached(struct rp_window *w, struct rp_window_region *r)
{
    if (!rp_partial.is_traced ||
        !rp_access_trace_attached(w->number, w->attaches++, r->memory.size, &r->origin))
        return;
    r->memory.shadow = rp_allocate_like(r->memory.own, r->memory.size, &r->owned[1]);
    for (size_t i = 0; i < r->memory.size; i++)
        r->memory.shadow[i] = (uint8_t)~r->memory.own[i];
    if (rp_access_trace_stores(&rp_f_Win_attach, w->number, -1, r->origin,
                               rp_data_read_entries(rp_partial.reader), r->memory.own,
                               r->memory.shadow, r->memory.size))
        rp_access_trace_out(&rp_f_Win_attach, w->number);
}

int rp_partial_feed_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    struct rp_window *w = rp_window_find(win);

    rp_initial_memory_expect(base, (size_t)size);
    int rc = rp_partial_feed_begin(&rp_f_Win_attach, true, rp_check(0, size));
    rp_initial_memory_over();
    rp_partial_feed_end();
    if (rc == MPI_SUCCESS && w)
        tell_attached(w, rp_tracking.is_parted ? rp_window_region_add(w, base, base, (size_t)size)
                                               : feed_region(w, base, (size_t)size));
    return rc;
}

int rp_partial_record_Win_detach(const struct rp_next *next, MPI_Win win, const void *base)
{
    struct rp_window *w = rp_window_find(win);

    rp_windows_in(win);
    bool is_open = rp_real_begin();
    int rc = next->Win_detach(win, base);
    rp_real_end(is_open);
    rp_partial_record_begin(&rp_f_Win_detach, false, 0, rc);
    rp_partial_record_end();
    if (rc == MPI_SUCCESS && w)
        detach(w, base);
    return rc;
}

int rp_partial_feed_Win_detach(MPI_Win win, const void *base)
{
    if (rp_partial.is_traced)
        rp_windows_look(&rp_f_Win_detach, win, true);
    int rc = rp_partial_feed_begin(&rp_f_Win_detach, false, 0);
    struct rp_window *w = rp_window_find(win);

    rp_partial_feed_end();
    if (rc == MPI_SUCCESS && w)
        detach(w, base);
    return rc;
}

/* What others wrote until the end is the program's, unless the memory goes with the window. */
int rp_partial_record_Win_free(const struct rp_next *next, MPI_Win *win)
{
    struct rp_window *w = rp_window_find(*win);
    MPI_Win handle = *win;

    rp_windows_out(handle);
    if (w)
        w->ending = true; /* attribute functions of the program may make calls */
    bool is_open = rp_partial_open();
    int rc = next->Win_free(win);
    rp_partial_shut(is_open);
    if (rc == MPI_SUCCESS && w) {
        if (!w->allocated)
            rp_windows_in(handle);
        rp_window_remove(handle);
    }
    rp_partial_record_begin(&rp_f_Win_free, false, 0, rc);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Win_free(MPI_Win *win)
{
    MPI_Win handle = *win;

    if (rp_partial.is_traced)
        rp_windows_look(&rp_f_Win_free, handle, true);
    int made = rp_pmpi.Win_free(win);
    int rc = rp_partial_feed_begin(&rp_f_Win_free, false, 0);

    (void)made;
    rp_partial_feed_end();
    rp_window_remove(handle);
    return rc;
}

/* Attributes that MPI itself sets; all others are the program's own. */

static bool is_predefined(int keyval)
{
    return keyval == MPI_WIN_BASE || keyval == MPI_WIN_SIZE || keyval == MPI_WIN_DISP_UNIT ||
           keyval == MPI_WIN_CREATE_FLAVOR || keyval == MPI_WIN_MODEL;
}

int rp_partial_record_Win_get_attr(const struct rp_next *next, MPI_Win win, int keyval, void *value,
                                   int *flag)
{
    int rc = next->Win_get_attr(win, keyval, value, flag);
    struct rp_window *w = rp_window_find(win);

    if (!is_predefined(keyval) || !w)
        return rc;
    rp_partial_record_begin(&rp_f_Win_get_attr, true, rp_check(0, keyval), rc);
    rp_partial_record_number(rc == MPI_SUCCESS && *flag);
    if (rc == MPI_SUCCESS && *flag && keyval == MPI_WIN_BASE)
        *(void **)value = w->base;
    else if (rc == MPI_SUCCESS && *flag)
        rp_data_put_signed(rp_partial.writer, keyval == MPI_WIN_SIZE
                                                  ? (int64_t) * *(MPI_Aint **)value
                                                  : **(int **)value);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    struct rp_window *w = rp_window_find(win);

    if (!is_predefined(keyval) || !w)
        return rp_pmpi.Win_get_attr(win, keyval, value, flag);
    int rc = rp_partial_feed_begin(&rp_f_Win_get_attr, true, rp_check(0, keyval));
    *flag = (int)rp_partial_feed_number();
    if (*flag && keyval == MPI_WIN_BASE) {
        *(void **)value = w->base;
    } else if (*flag && keyval == MPI_WIN_SIZE) {
        w->size = (MPI_Aint)rp_data_get_signed(rp_partial.reader);
        *(MPI_Aint **)value = &w->size;
    } else if (*flag) {
        int *slot = keyval == MPI_WIN_DISP_UNIT ? &w->disp_unit
                    : keyval == MPI_WIN_MODEL   ? &w->model
                                                : &w->flavor;
        *slot = (int)rp_data_get_signed(rp_partial.reader);
        *(int **)value = slot;
    }
    rp_partial_feed_end();
    return rc;
}
