/* SPDX-License-Identifier: MIT */
/* What can be seen of a preloaded library: nothing, unless it is said. */
#ifndef RP_VISIBILITY_H
#define RP_VISIBILITY_H

/* Of a variable that is declared: it is in the same library as who uses it, so that its address
 * need not be looked up. Definitions are hidden anyway. */
#define RP_HIDDEN __attribute__((visibility("hidden")))

/* Of a function: the program and MPI find it. */
#define RP_ENTRY __attribute__((visibility("default")))

#endif
