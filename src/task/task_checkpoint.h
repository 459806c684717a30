/* SPDX-License-Identifier: MIT */
/* Checkpoints in memory: a copy of each task at its owner and at the owner's buddy. */
#ifndef RP_TASK_CHECKPOINT_H
#define RP_TASK_CHECKPOINT_H

#include "task/task_runtime.h"

/* Copies the bytes. */
void rp_task_copy_set(struct rp_task_copy *copy, const uint8_t *bytes, size_t length,
                      uint64_t version);

/* A list of copies in a parcel: one after the other, and a 0 behind the last. Take keeps those that
 * are of the last checkpoint, or of the one that is being made. */
void rp_task_copy_put(struct rp_buffer *out, uint32_t task, const struct rp_task_copy *copy);
void rp_task_copies_take(struct rp_tasks *tasks, struct rp_view *in);

/* Makes copies of the tasks of this process, and sends them to the buddy; receives those of
 * another. */
void rp_task_checkpoint_make(struct rp_tasks *tasks);
void rp_task_checkpoint_receive(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                                const uint8_t *data);

/* All processes have made it: these copies are the checkpoint, and logs begin anew. */
void rp_task_checkpoint_commit(struct rp_tasks *tasks);

/* Sets a task to its state in the checkpoint. False: there is no copy here. */
bool rp_task_checkpoint_restore(struct rp_tasks *tasks, uint32_t number);

#endif
