/* SPDX-License-Identifier: MIT */
/* Opening gdb for ranks of a replay (REPRISE_GDB): in a window of the terminal multiplexer that the
 * command was started from, behind gdbserver, or by telling the user how. */
#ifndef RP_DEBUGGER_H
#define RP_DEBUGGER_H

#include <stdbool.h>

/* Opens gdb if this rank is to be debugged and is not yet. Returns when gdb has taken control.
 * Called before main if the launcher's environment has the rank, else after MPI was initialised. */
void rp_debugger_open(int rank);

/* Returns whether a debugger controls this process. */
bool rp_debugger_is_here(void);

/* Returns whether `list`, rank numbers and ranges separated by commas, contains `rank`. */
bool rp_debugger_wants(const char *list, int rank);

#endif
