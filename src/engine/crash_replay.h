/* SPDX-License-Identifier: MIT */
/* A crash is replayed too, and so is _exit. It would end the other ranks before they reach their
 * own ends, so a replay waits for them first. */
#ifndef RP_CRASH_REPLAY_H
#define RP_CRASH_REPLAY_H

#include <stdbool.h>

/* From now on a signal that would end this process has `wait` called first, and so has _exit as
 * long as MPI is not finalised (then it is no crash). Handlers of the program are left alone; those
 * of MPI are called behind. */
void rp_crash_replay_handle(void (*wait)(bool is_crash));

#endif
