/* SPDX-License-Identifier: MIT */
/* A message of the program at the process of its task, and queues of such messages. */
#ifndef RP_TASK_MESSAGE_H
#define RP_TASK_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "match/message_id.h"
#include "task/task_parcel.h"

struct rp_task_message {
    struct rp_task_message *next;
    struct rp_message_id id;
    uint32_t task, epoch, phase, entry;
    uint64_t ref, clock;
    size_t bytes;
    _Alignas(16) uint8_t data[];
};

/* On the heap: a message with this head, and head->bytes bytes of data. Without memory the process
 * aborts. */
struct rp_task_message *rp_task_message_new(const struct rp_task_message *head, const void *data);

/* As bytes, for checkpoints and moves. Load returns NULL for bytes that are no message. */
void rp_task_message_save(const struct rp_task_message *message, struct rp_buffer *out);
struct rp_task_message *rp_task_message_load(uint32_t task, struct rp_view *in);

/* The message of a parcel, behind whose head are `length` bytes: data, CPI, and what is not the
 * message's. `used`: where that begins. */
struct rp_task_message *rp_task_message_unpack(const struct rp_parcel_head *head,
                                               const uint8_t *data, size_t length, size_t *used);

/* All zero is empty. */
struct rp_task_queue {
    struct rp_task_message *first, *last;
    size_t count;
};

/* The queue owns the message. */
void rp_task_queue_put(struct rp_task_queue *queue, struct rp_task_message *message);

/* The caller owns the message; `which` counts from 0, the oldest. NULL: there are fewer. */
struct rp_task_message *rp_task_queue_take(struct rp_task_queue *queue, size_t which);

/* Puts all messages of `from` behind those of `queue`. */
void rp_task_queue_append(struct rp_task_queue *queue, struct rp_task_queue *from);

/* Frees its messages. */
void rp_task_queue_clear(struct rp_task_queue *queue);

#endif
