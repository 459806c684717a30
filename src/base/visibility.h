/* SPDX-License-Identifier: MIT */
/* Says of a variable that it is in the same library as who uses it, so that its address need not be
 * looked up. Definitions are hidden anyway. */
#ifndef RP_VISIBILITY_H
#define RP_VISIBILITY_H

#define RP_HIDDEN __attribute__((visibility("hidden")))

#endif
