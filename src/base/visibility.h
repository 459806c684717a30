/* SPDX-License-Identifier: MIT */
/* Visibility of symbols in the preloaded libraries: hidden unless RP_ENTRY is said. */
#ifndef RP_VISIBILITY_H
#define RP_VISIBILITY_H

/* Marks the declaration of a variable that is defined in the same library: its address then needs
 * no look-up. Definitions are hidden anyway. */
#define RP_HIDDEN __attribute__((visibility("hidden")))

/* Marks a function that other libraries and the program can find. */
#define RP_ENTRY __attribute__((visibility("default")))

#endif
