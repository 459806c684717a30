/* SPDX-License-Identifier: MIT */
/* What is known of windows, for those who make them (data_window_calls.c, data_shared.c) and for
 * who looks at their memory (data_windows.c). */
#ifndef RP_PARTIAL_WINDOWS_H
#define RP_PARTIAL_WINDOWS_H

#include <stdlib.h>

#include "base/diagnostics.h"
#include "window/shadow.h"
#include "partial/partial.h"

struct rp_window_region {
    struct rp_shadow memory; /* alone, only `own` and `size` */
    void *owned[3];          /* of it, what is ours to free */
    bool steady;             /* own memory is that of base/fixed_address.h */
    bool tracked;            /* the shadow is that of data_track.c */
    bool programs, lost; /* the memory is the program's own, which may free it before the window; it
                            has, and nobody looks at it any more */
    uint64_t origin;     /* alone, of a dynamic one: where it was in the record */
    int member;          /* alone, of a shared window: whose it is; else -1 */
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
    MPI_Aint size;      /* attributes, alone */
    int disp_unit, flavor, model;
    struct rp_member *members; /* of a shared one, alone */
    int member_count;
    uint64_t looked; /* alone: entries that were complete when the program went on after its stores
                        were looked for; looking: a call is about to end */
    bool stored;     /* and some are not public yet */
    size_t attaches; /* alone */
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

struct rp_window *rp_windows_first(void);
struct rp_window *rp_window_find(MPI_Win win); /* NULL: it is not ours */
struct rp_window *rp_window_add(MPI_Win win, int self);
void rp_window_remove(MPI_Win win);
struct rp_window_region *rp_window_region_add(struct rp_window *w, void *own, void *public,
                                              size_t size);
void rp_window_region_free(struct rp_window_region *r);

/* Recording: who the members of the newest window are, and what was attached to one. */
void rp_windows_order(MPI_Comm comm);
void rp_windows_attached(const struct rp_window *w, const struct rp_window_region *r);
/* Within the entry of the call that made the window: what its memory has in the beginning; alone,
 * takes that. */
void rp_window_put(struct rp_window *w);
void rp_window_take(struct rp_window *w);
/* Memory of the program's own becomes part of a window: an entry before that of the call, what a
 * rank alone is to have in it. Alone, before the entry of the call is taken: this memory; and
 * behind it, that there is none. */
void rp_initial_memory_put(const void *memory, size_t size);
void rp_initial_memory_expect(void *memory, size_t size);
void rp_initial_memory_over(void);
/* Alone: the window is there; what the program's memory has is the owner's. */
void rp_window_tell(struct rp_window *w, const struct rp_function *function, int disp_unit);

/* Recording: the program calls a function that makes a window. The rank is replayed alone from
 * then on, whether the call succeeds, fails or never returns. */
void rp_window_expect(void);

/* A new window. Recording, MPI has made it; alone, one of this process stands for it: `made` is
 * set, and the entry of the call still open, unless that failed in the record. */
struct rp_window *rp_window_record(MPI_Win win, MPI_Comm comm, int disp_unit);
int rp_window_stand_in(const struct rp_function *function, MPI_Aint size, MPI_Comm comm,
                       MPI_Win *win, struct rp_window **made);

#endif
