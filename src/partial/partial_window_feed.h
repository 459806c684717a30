/* SPDX-License-Identifier: MIT */
/* Feeding: puts into the memory of windows what others stored there. */
#ifndef RP_PARTIAL_WINDOW_FEED_H
#define RP_PARTIAL_WINDOW_FEED_H

#include "partial/partial_windows.h"

/* Takes an entry `changes`. */
void rp_partial_feed_changes(void);

/* Within the entry of the call that made the window: reads the first content of its memory. */
void rp_window_take(struct rp_window *w);

/* The rest is for traced runs (rp_partial.is_traced). */

/* Traces that the window was made, and that the content of its memory is this rank's own. */
void rp_window_tell(struct rp_window *w, const struct rp_function *function, MPI_Aint unit);

/* Looks for stores of the program: before the entry of a call that makes stores public, or (`out`
 * false) takes changes in. Of one window, or of all. */
void rp_windows_look(const struct rp_function *function, MPI_Win win, bool out);
void rp_windows_look_all(const struct rp_function *function);
/* Notes after the entry of any call that stores were looked for. */
void rp_windows_looked(void);
/* rp_windows_differ returns whether any of these bytes that are in windows differ from what the
 * trace knows of them. rp_windows_direct traces that a tracked program loaded (`loads`) or stored
 * them; `load` is the number of this load, or of the next one after a store. */
bool rp_windows_differ(const void *at, size_t size);
void rp_windows_direct(bool loads, const void *at, const void *value, size_t size, uint64_t load);

/* Before the entry of a call that sends. */
static inline void rp_partial_feed_part(const struct rp_function *function)
{
    if (rp_partial.is_traced)
        rp_windows_look_all(function);
}

#endif
