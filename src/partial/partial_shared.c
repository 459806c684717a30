/* SPDX-License-Identifier: MIT */
/*
 * Windows that processes of one host share, in which they load and store without any call. Unless
 * the program is tracked, a recording is right only if the program does so between calls that
 * synchronise. Only its user can know that.
 *
 * Each member's part is a region of the window. In programs that are tracked by calls they are
 * parted like other windows: all parts together have a copy that the program works on, `to_own`
 * away from what MPI says. Feeding, all parts are made here, as far from each other as they were.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "partial/partial_entries.h"
#include "partial/partial_tracking.h"
#include "partial/partial_window_life.h"
#include "partial/partial_window_feed.h"
#include "partial/partial_window_memory.h"
#include "peers/peer_reprise.h"
#include "reprise.h"
#include "hand.h"

static void check_shared(const char *function)
{
    if (rp_tracked() || rp_list_has(rp_setting("REPRISE_ALLOW"), function))
        return;
    rp_error("%s: what others store there is seen without any MPI call, which cannot be replayed, "
             "so the program is stopped here; if it reads only what was stored before a barrier, "
             "fence, MPI_Win_sync or message, '--allow %s' records it; else compile it by "
             "'reprise-cc --track'",
             function, function);
    if (reprise_refused)
        reprise_refused(function);
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}

static struct rp_member member_of(MPI_Win win, int rank)
{
    struct rp_member m = {0};

#if RP_HAS_LARGE_COUNTS
    rp_pmpi.Win_shared_query_c(win, rank, &m.size, &m.unit, &m.base);
#else
    int unit = 0;
    rp_pmpi.Win_shared_query(win, rank, &m.size, &unit, &m.base);
    m.unit = unit;
#endif
    return m;
}

/* The lowest place that any of them has, and how far they all reach. */
static char *lowest_base(MPI_Win win, int members, size_t *span)
{
    char *lowest = NULL, *end = NULL;

    for (int i = 0; i < members; i++) {
        struct rp_member m = member_of(win, i);
        if (m.size > 0 && (!lowest || (char *)m.base < lowest))
            lowest = m.base;
        if (m.size > 0 && (!end || (char *)m.base + m.size > end))
            end = (char *)m.base + m.size;
    }
    *span = (size_t)(end - lowest);
    return lowest;
}

/* Where each member's part is, as seen from the lowest; and what is in it. */
static void put_members(struct rp_window *w, int members)
{
    char *lowest = lowest_base(w->win, members, &w->span);
    void *owned[2] = {NULL, NULL};
    uint8_t *own = (uint8_t *)lowest, *shadow = NULL;

    if (rp_tracking.is_parted) {
        own = rp_allocate_like(lowest, w->span, &owned[0]);
        shadow = rp_allocate_like(lowest, w->span, &owned[1]);
        rp_track_part(&(struct rp_shadow){
            .own = own, .public = (uint8_t *)lowest, .shadow = shadow, .size = w->span});
        w->to_own = (uintptr_t)own - (uintptr_t)lowest;
    } else {
        shadow = rp_track_add(own, w->span, false);
    }
    w->whole = own;

    rp_partial_record_number((uint64_t)members);
    for (int i = 0; i < members; i++) {
        struct rp_member m = member_of(w->win, i);
        rp_partial_record_number((uint64_t)m.size);
        rp_partial_record_number((uint64_t)m.unit);
        rp_partial_record_number(m.size > 0 ? (uint64_t)((char *)m.base - lowest) : 0);
        struct rp_window_region *r =
            rp_window_region_add(w, (void *)((uintptr_t)m.base + w->to_own), m.base,
                                 (size_t)m.size);
        if (shadow && i == 0)
            memcpy(r->owned, owned, sizeof owned);
        r->memory.shadow = shadow && m.size > 0 ? shadow + ((char *)m.base - lowest)
                           : shadow             ? shadow
                                    : rp_allocate_like(m.base, (size_t)m.size, &r->owned[0]);
    }
    rp_window_put(w);
}

int rp_partial_record_Win_allocate_shared(const struct rp_next *next, const struct rp_making *m,
                                          void *base, MPI_Win *win)
{
    int members = 0;

    check_shared(m->function->name);
    rp_window_expect();
    bool is_open = rp_real_begin();
    int rc = m->make(next, m, base, win);
    rp_real_end(is_open);
    rp_partial_record_begin(m->function, true, rp_check(0, m->size), rc);
    if (rc == MPI_SUCCESS) {
        struct rp_window *w = rp_window_record(*win, m->comm, m->unit);
        w->allocated = w->shared = true;
        rp_pmpi.Comm_size(m->comm, &members);
        rp_partial_record_number((uint64_t)w->self);
        put_members(w, members);
        *(void **)base = w->base = (void *)((uintptr_t) * (void **)base + w->to_own);
    }
    rp_partial_record_end();
    return rc;
}

static void take_members(struct rp_window *w)
{
    uint64_t self = rp_partial_feed_number(), count = rp_partial_feed_number(), span = 0;

    rp_partial_feed_end();
    w->members = rp_allocate((count + 1) * sizeof *w->members);
    w->member_count = (int)count;
    for (uint64_t i = 0; i < count; i++) {
        w->members[i].size = (MPI_Aint)rp_partial_feed_number();
        w->members[i].unit = (MPI_Aint)rp_partial_feed_number();
        uint64_t at = rp_partial_feed_number();
        w->members[i].base = (void *)(uintptr_t)at;
        span = at + (uint64_t)w->members[i].size > span ? at + (uint64_t)w->members[i].size : span;
    }
    rp_partial_feed_end();
    void *owned;
    uint8_t *all = rp_allocate_like(NULL, span, &owned);
    rp_track_add(w->whole = all, w->span = span, false);
    for (uint64_t i = 0; i < count; i++) {
        w->members[i].base = all + (uintptr_t)w->members[i].base;
        struct rp_window_region *r = rp_window_region_add(w, w->members[i].base, w->members[i].base,
                                                          (size_t)w->members[i].size);
        r->member = (int)i;
        r->owned[0] = i == 0 ? owned : NULL;
    }
    w->base = self < count ? w->members[self].base : NULL;
}

int rp_partial_feed_Win_allocate_shared(const struct rp_making *m, void *base, MPI_Win *win)
{
    struct rp_window *w = NULL;
    int rc = rp_window_stand_in(m->function, m->size, m->comm, win, &w);

    if (w) {
        take_members(w);
        w->shared = true;
        rp_window_tell(w, m->function, m->unit); /* what it has now others wrote already */
        rp_window_take(w);
        rp_partial_feed_end();
        *(void **)base = w->base;
    }
    return rc;
}

void rp_window_shift(MPI_Win win, void *base)
{
    const struct rp_window *w = rp_window_find(win);

    if (w && *(void **)base)
        *(void **)base = (void *)((uintptr_t) * (void **)base + w->to_own);
}

bool rp_window_member(MPI_Win win, int rank, struct rp_member *out)
{
    const struct rp_window *w = rp_window_find(win);

    if (!w || !w->members)
        return false;
    for (int i = 0; i < w->member_count && rank == MPI_PROC_NULL; i++) /* the first that has any */
        if (w->members[i].size > 0)
            rank = i;
    *out = rank >= 0 && rank < w->member_count ? w->members[rank] : (struct rp_member){0};
    return true;
}
