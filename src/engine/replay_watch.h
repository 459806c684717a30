/* SPDX-License-Identifier: MIT */
/*
 * What a debugger sees of a replay. `reprise.gdb`, which is installed beside the library, calls these functions and stops at the first; they need no debug information, and allocate nothing, since the
 * program may be stopped anywhere.
 */
#ifndef RP_REPLAY_WATCH_H
#define RP_REPLAY_WATCH_H

#include <stdint.h>

#define RP_WATCHED __attribute__((visibility("default")))

/* Called when an event was replayed, still inside the program's MPI call; a place for breakpoints. */
RP_WATCHED void reprise_event(void);

extern RP_WATCHED volatile uint64_t reprise_event_number;   /* events replayed */
extern RP_WATCHED volatile uint64_t reprise_return_address; /* where the MPI call that the last event belongs to goes back to */

/* Lines of text, valid until the next call: how far this rank is, and its receives under way with what they take in the record. */
RP_WATCHED const char *reprise_where(void);
RP_WATCHED const char *reprise_pending(void);

#endif
