/* SPDX-License-Identifier: MIT */
/* Whether a thread sleeps in the system until another thread wakes it. */
#ifndef RP_ASLEEP_H
#define RP_ASLEEP_H

#include <stdbool.h>

/* A thread of this process, by its number: it waits for a futex, and has not run since it was last
 * asked after. To be asked by one thread, again and again. */
bool rp_asleep_is(int thread);

#endif
