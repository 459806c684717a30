/* SPDX-License-Identifier: MIT */
/* Feeding: what others stored into the memory of windows is put there. */
#ifndef RP_PARTIAL_WINDOW_FEED_H
#define RP_PARTIAL_WINDOW_FEED_H

#include "partial/partial_windows.h"

/* Takes an entry `changes`. */
void rp_partial_feed_changes(void);

/* Within the entry of the call that made the window: takes what its memory has in the beginning. */
void rp_window_take(struct rp_window *w);

/* The rest is for traced runs (rp_partial.is_traced). */

/* The window is there; what the program's memory has is the owner's. */
void rp_window_tell(struct rp_window *w, const struct rp_function *function, int disp_unit);

/* Looks for stores of the program: before the entry of a call that makes stores public, or (`out`
 * false) takes changes in. Of one window, or of all. */
void rp_windows_look(const struct rp_function *function, MPI_Win win, bool out);
void rp_windows_look_all(const struct rp_function *function);
/* The same after the entry of any call. */
void rp_windows_looked(void);
/* Of these bytes, wherever they are in windows: whether they are other than what is known of them;
 * a tracked program loaded or stored them. `load`: the number of the load, or of the next. */
bool rp_windows_differ(const void *at, size_t size);
void rp_windows_direct(bool loads, const void *at, const void *value, size_t size, uint64_t load);

/* Before the entry of a call that sends. */
static inline void rp_partial_feed_part(const struct rp_function *function)
{
    if (rp_partial.is_traced)
        rp_windows_look_all(function);
}

#endif
