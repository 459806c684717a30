/* SPDX-License-Identifier: MIT */
/*
 * Recording: copies the program's stores into the public copies of windows, and the stores of
 * others into the private ones. The stores of others are recorded, by an entry `changes`
 * (rp_f_window).
 */
#ifndef RP_PARTIAL_WINDOW_MEMORY_H
#define RP_PARTIAL_WINDOW_MEMORY_H

#include "partial/partial_marks.h"
#include "partial/partial_windows.h"

extern RP_HIDDEN const struct rp_function rp_f_window;

void rp_windows_out(MPI_Win win);
void rp_windows_in(MPI_Win win);
void rp_windows_in_own(MPI_Win win); /* complete updates that this rank itself made */
void rp_windows_all_out(void);
void rp_windows_all_in(void);
void rp_windows_glance(void); /* both, but seldom */

/* Called when an access of this rank to the window of `target` is about to begin. */
void rp_window_access(MPI_Win win, int target, MPI_Aint disp, int64_t count, MPI_Datatype type,
                      bool writes);

/* Within the entry of the call that made the window: writes the first content of its memory. */
void rp_window_put(struct rp_window *w);

/* Messages and collective calls order one-sided accesses between ranks. Before a call that sends,
 * rp_windows_part makes all stores public; after one that receives, rp_windows_meet takes in what
 * others stored. */
static inline void rp_windows_part(void)
{
    if (rp_windows.count) {
        rp_windows_all_out();
        rp_marks_put_now();
    }
}
static inline void rp_windows_meet(void)
{
    if (rp_windows.count) {
        rp_windows_all_in();
        rp_marks_put_now();
    }
}

#endif
