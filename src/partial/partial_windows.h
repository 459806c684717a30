/* SPDX-License-Identifier: MIT */
/* The windows of this rank, and the memory that each has. */
#ifndef RP_PARTIAL_WINDOWS_H
#define RP_PARTIAL_WINDOWS_H

#include <stdlib.h>

#include "base/diagnostics.h"
#include "partial/partial_state.h"
#include "window/shadow.h"

struct rp_window_region {
    struct rp_shadow memory; /* feeding, only `own` and `size` */
    void *owned[3];          /* allocations that are freed with the region */
    bool steady;             /* own memory is that of base/fixed_address.h */
    bool tracked;            /* the shadow is that of partial_tracking.c */
    bool programs,
        lost;        /* programs: the memory is the program's own, which may free it before the
                        window; lost: it has freed it, and the memory is not accessed any more */
    uint64_t origin; /* feeding, of a dynamic window: its address in the record */
    int member;      /* feeding, of a shared window: the member that owns it; else -1 */
    struct rp_window_region *lender; /* recording: the region of another window that this one is
                                 part of, whose public memory and shadow it has */
    size_t borrowers;
    bool gone; /* its window is freed, but not yet all borrowers */
    struct rp_window_region *next;
};

/* Ranges of this rank's own window memory that the rank itself is updating. */
enum { RP_RANGES = 64 };
struct rp_memory_range {
    struct rp_window_region *region;
    size_t at, length;
};

struct rp_member {
    MPI_Aint size, unit;
    void *base;
};

struct rp_window {
    MPI_Win win;
    uint64_t number;
    int self;                /* this rank in it */
    bool dynamic, allocated; /* by MPI_Win_create_dynamic, by MPI_Win_allocate */
    bool shared; /* by MPI_Win_allocate_shared: a region for each member, of whom all see all */
    bool ending; /* its memory may be gone */
    void *base;
    void *whole; /* of a shared one of a tracked program, all parts together */
    size_t span;
    uintptr_t to_own; /* of those of programs that are tracked by calls: from what MPI says to the
                         program's memory */
    struct rp_window_region *regions; /* the newest first */
    struct rp_memory_range ranges[RP_RANGES];
    size_t range_count; /* more than RP_RANGES: all of it */
    MPI_Aint unit;      /* of displacements; recording */
    MPI_Aint size;      /* attributes, feeding */
    int disp_unit, flavor, model;
    struct rp_member *members; /* of a shared one, feeding */
    int member_count;
    uint64_t looked; /* feeding: entries that were complete when the program went on after its
                        stores were looked for; looking: a call is about to end */
    bool stored;     /* and some are not public yet */
    size_t attaches; /* feeding */
    struct rp_window *next;
};

/* Returns zeroed memory; does not return if there is none. */
static inline void *rp_allocate(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory");
    return memory;
}

/* Returns zeroed memory that is as far from a multiple of 64 as `like` is. The caller frees
 * *owned. */
uint8_t *rp_allocate_like(const void *like, size_t size, void **owned);

/* The functions for the symmetric memory of OpenSHMEM (src/shmem). They are called wherever those
 * of windows are, and the memory counts as one window. */
struct rp_symmetric_side {
    void (*out)(void), (*in)(void);
    void (*take)(void); /* feeding: an entry `symmetric` */
};

struct rp_windows {
    size_t count;
    uint32_t updates; /* a hash of the updates since the last call that synchronises */
    const struct rp_symmetric_side *symmetric; /* NULL: there is none */
};
extern RP_HIDDEN struct rp_windows rp_windows;

/* What the check of a call that synchronises begins with. With several threads, whose updates have
 * entries, it is 0. */
static inline uint32_t rp_windows_updates(void)
{
    return rp_partial.has_threads ? 0 : rp_windows.updates;
}

struct rp_window *rp_windows_first(void);
struct rp_window *rp_window_find(MPI_Win win); /* NULL: it was not added */
/* `self`: the number of this rank in the window's group. */
struct rp_window *rp_window_add(MPI_Win win, int self);
void rp_window_remove(MPI_Win win);
struct rp_window_region *rp_window_region_add(struct rp_window *w, void *own, void *public,
                                              size_t size);
void rp_window_region_free(struct rp_window_region *r);
/* Calls act(data), which may access the region's memory. If the program has freed that memory, the
 * region is lost. */
void rp_window_region_visit(struct rp_window_region *r, void (*act)(void *data), void *data);

/* Returns the number of a window among all of this rank; UINT32_MAX if it was not added. */
uint64_t rp_window_number(MPI_Win win);
/* Returns a number for the displacement that is the same in every run. */
int64_t rp_window_place(MPI_Win win, MPI_Aint disp);
/* Feeding: returns the displacement that the record has for `disp`. */
MPI_Aint rp_window_recorded(MPI_Win win, int target, MPI_Aint disp);
/* Returns whether the window memory of `rank`, as the window's group numbers it, is this rank's own
 * memory: it is this rank, or the window is shared. */
bool rp_window_is_self(MPI_Win win, int rank);

#endif
