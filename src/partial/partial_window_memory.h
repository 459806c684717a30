/* SPDX-License-Identifier: MIT */
/*
 * Recording: the program's stores into windows go out, and what others stored comes in. What came
 * in is written down, by an entry `changes` (rp_f_window).
 */
#ifndef RP_PARTIAL_WINDOW_MEMORY_H
#define RP_PARTIAL_WINDOW_MEMORY_H

#include "partial/partial_marks.h"
#include "partial/partial_windows.h"

extern RP_HIDDEN const struct rp_function rp_f_window;

void rp_windows_out(MPI_Win win);
void rp_windows_in(MPI_Win win);
void rp_windows_in_own(MPI_Win win); /* what this rank itself updated; that is complete */
void rp_windows_all_out(void);
void rp_windows_all_in(void);
void rp_windows_glance(void); /* both, but seldom */

/* An access of this rank is about to begin. */
void rp_window_access(MPI_Win win, int target, MPI_Aint disp, int64_t count, MPI_Datatype type,
                      bool writes);

/* Within the entry of the call that made the window: what its memory has in the beginning. */
void rp_window_put(struct rp_window *w);

/* Messages and collective calls tell of what was written before, and have others told. */
static inline void rp_windows_part(void)
{
    if (rp_windows.count) {
        rp_windows_all_out();
        rp_windows_mark_now();
    }
}
static inline void rp_windows_meet(void)
{
    if (rp_windows.count) {
        rp_windows_all_in();
        rp_windows_mark_now();
    }
}

#endif
