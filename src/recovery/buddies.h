/* SPDX-License-Identifier: MIT */
/*
 * Which processes keep the copies of a checkpoint. Where a spare takes the place of a dead rank,
 * the buddies of all ranks are chosen once, and stay (rp_buddies_choose). Where dead processes are
 * not replaced, the buddy of a process is the next one that lives: it is also the first to take
 * over tasks from it, so that the copy is where it is needed (rp_buddies_next_living).
 */
#ifndef RP_BUDDIES_H
#define RP_BUDDIES_H

#include <stdint.h>

/*
 * Sets buddies[rank * copies + i] to the rank that keeps copy i of `rank`; ranks with the same
 * host_of share a host. The buddies of a rank differ from it and from each other: of its checkpoint
 * and the copies, any `copies` deaths at once leave one. They are on other hosts as far as there
 * are any, and far apart on the ring of ranks; no rank keeps many more than the others.
 * Needs 0 <= copies < ranks. Returns -1 without memory, else 0.
 */
int rp_buddies_choose(int ranks, int copies, const int64_t *host_of, int32_t *buddies);

/* Returns the process behind this one on the ring, passing over the dead; some process must live.
 */
int rp_buddies_next_living(int processes, const int *dead, int dead_count, int process);

#endif
