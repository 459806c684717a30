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
    void *owned[3];          /* of it, what is ours to free */
    bool steady;             /* own memory is that of base/fixed_address.h */
    bool tracked;            /* the shadow is that of partial_tracking.c */
    bool programs, lost; /* the memory is the program's own, which may free it before the window; it
                            has, and nobody looks at it any more */
    uint64_t origin;     /* feeding, of a dynamic one: where it was in the record */
    int member;          /* feeding, of a shared window: whose it is; else -1 */
    struct rp_window_region *lender; /* recording: the region of another window that this one is
                                 part of, whose public memory and shadow it has */
    size_t borrowers;
    bool gone; /* its window is, but not yet all borrowers */
    struct rp_window_region *next;
};

/* Of this rank's window, what the rank itself is updating. */
enum { RP_RANGES = 64 };
struct rp_memory_range {
    struct rp_window_region *region;
    size_t at, length;
};

struct rp_member {
    MPI_Aint size;
    int disp_unit;
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

/* Zeros. */
static inline void *rp_allocate(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory");
    return memory;
}

/* Zeros, as far from a multiple of 64 as `like` is; `owned` is to be freed. */
uint8_t *rp_allocate_like(const void *like, size_t size, void **owned);

/* The symmetric memory of OpenSHMEM (src/shmem), which is looked at where windows are, and counts
 * as one. */
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

struct rp_window *rp_windows_first(void);
struct rp_window *rp_window_find(MPI_Win win); /* NULL: it is not ours */
/* `self`: this rank in the window. */
struct rp_window *rp_window_add(MPI_Win win, int self);
void rp_window_remove(MPI_Win win);
struct rp_window_region *rp_window_region_add(struct rp_window *w, void *own, void *public,
                                              size_t size);
void rp_window_region_free(struct rp_window_region *r);
/* Touches memory of the region by `act`, if it is still there. */
void rp_window_region_visit(struct rp_window_region *r, void (*act)(void *data), void *data);

/* The number of a window among all of this rank; UINT32_MAX: it is not ours. */
uint64_t rp_window_number(MPI_Win win);
/* A displacement that is the same in every run. */
int64_t rp_window_place(MPI_Win win, MPI_Aint disp);
/* Feeding: what a displacement was in the record. */
MPI_Aint rp_window_recorded(MPI_Win win, int target, MPI_Aint disp);
/* Whether what this rank of the window has is this rank's own memory. */
bool rp_window_is_self(MPI_Win win, int rank);

#endif
