/* SPDX-License-Identifier: MIT */
/* Tasks move to other processes. */
#ifndef RP_TASK_MOVES_H
#define RP_TASK_MOVES_H

#include "task/task_runtime.h"

void rp_moves_init(struct rp_tasks *tasks);
void rp_moves_free(struct rp_tasks *tasks);

/* Maps a collection anew, and sends the tasks that leave. */
void rp_moves_begin(struct rp_tasks *tasks, int collection, int (*map)(struct reprise_index, int));

/* A task has arrived. */
void rp_moves_receive(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                      const uint8_t *data);

/* Restores tasks of this process that await their states; asks all others for the copies that are
 * not here. */
void rp_moves_request_copies(struct rp_tasks *tasks);

/* Another process asks for copies; a copy has arrived, or the answer that there is none. */
void rp_moves_reply(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head,
                    const uint8_t *data);
void rp_moves_take_copy(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                        const uint8_t *data);

/* No request is open: a recovery has found copies, or asks anew. */
void rp_moves_reset(struct rp_tasks *tasks);

/* Nobody has copies of the tasks that still await their states: the run fails, if there are any. */
void rp_moves_fail_if_awaiting(struct rp_tasks *tasks);

#endif
