/* SPDX-License-Identifier: MIT */
/* Which entries do not commute, where a shuffled replay of tasks ends with another result. */
#ifndef RP_TASKSHUFFLE_H
#define RP_TASKSHUFFLE_H

/* Replays, with what is in the environment; returns the exit status. */
typedef int rp_task_replay(void *data);

/* Replays a record by the seed of REPRISE_SHUFFLE and, if the result differs, finds the entries by
 * further replays. Returns the exit status. */
int rp_task_shuffle(const char *directory, rp_task_replay *replay, void *data);

#endif
