/* SPDX-License-Identifier: MIT */
/* Opening gdb for ranks of a replay (REPRISE_GDB): in a window of the terminal multiplexer that the
 * command was started from, behind gdbserver, or by telling the user how. */
#ifndef RP_DEBUGGER_H
#define RP_DEBUGGER_H

#include <stdbool.h>

/* If this rank is to be debugged and is not yet: opens gdb and returns when it has taken over.
 * Called before main where the launcher tells the rank, else when MPI was initialised. */
void rp_debugger_open(int rank);

/* Whether a debugger has hold of this process. */
bool rp_debugger_is_here(void);

/* Rank numbers and ranges, separated by commas. */
bool rp_debugger_wants(const char *list, int rank);

#endif
