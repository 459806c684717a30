/* SPDX-License-Identifier: MIT */
#include "partial/partial_windows.h"

#include "base/fixed_address.h"
#include "partial/partial_tracking.h"
#include "window/fault_guard.h"

struct rp_windows rp_windows;

static struct {
    struct rp_window *first; /* the newest */
    uint64_t made;
} list;

uint8_t *rp_allocate_like(const void *like, size_t size, void **owned)
{
    enum { LINE = 64 };
    uint8_t *memory = rp_allocate(size + 2 * LINE);

    *owned = memory;
    return memory + ((uintptr_t)like - (uintptr_t)memory) % LINE;
}

struct rp_window *rp_windows_first(void)
{
    return list.first;
}

struct rp_window *rp_window_find(MPI_Win win)
{
    for (struct rp_window *w = list.first; w; w = w->next)
        if (w->win == win)
            return w;
    return NULL;
}

struct rp_window *rp_window_add(MPI_Win win, int self)
{
    struct rp_window *w = rp_allocate(sizeof *w);

    w->win = win;
    w->number = list.made++;
    w->self = self;
    w->next = list.first;
    list.first = w;
    rp_windows.count++;
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
    for (struct rp_window **at = &list.first; *at; at = &(*at)->next)
        if ((*at)->win == win) {
            struct rp_window *w = *at;
            *at = w->next;
            rp_windows.count--;
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

void rp_window_region_visit(struct rp_window_region *r, void (*act)(void *data), void *data)
{
    if (!r->programs)
        act(data);
    else if (!r->lost)
        r->lost = !rp_guard(r->memory.own, r->memory.size, act, data);
}

uint64_t rp_window_number(MPI_Win win)
{
    const struct rp_window *w = rp_window_find(win);

    return w ? w->number : UINT32_MAX;
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
