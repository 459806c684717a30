/* SPDX-License-Identifier: MIT */
#include "task/task_message.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"

struct rp_task_message *rp_task_message_new(const struct rp_task_message *head, const void *data)
{
    struct rp_task_message *m = malloc(sizeof *m + head->bytes);

    RP_BUG_ON(!m);
    *m = *head;
    if (m->bytes > 0)
        memcpy(m->data, data, m->bytes);
    return m;
}

void rp_task_message_save(const struct rp_task_message *m, struct rp_buffer *out)
{
    rp_buffer_u32(out, m->id.spe);
    rp_buffer_u32(out, m->id.srn);
    rp_buffer_string(out, m->id.cpi.bytes, (m->id.cpi.bits + 7u) / 8);
    rp_buffer_varint(out, m->id.cpi.bits);
    rp_buffer_varint(out, m->entry);
    rp_buffer_varint(out, m->phase);
    rp_buffer_u64(out, m->ref);
    rp_buffer_varint(out, m->clock);
    rp_buffer_string(out, m->data, m->bytes);
}

struct rp_task_message *rp_task_message_load(uint32_t task, struct rp_view *in)
{
    struct rp_task_message m = {.task = task};
    size_t path;

    m.id.spe = rp_view_u32(in);
    m.id.srn = rp_view_u32(in);
    const uint8_t *cpi = rp_view_string(in, &path);
    uint64_t bits = rp_view_varint(in);
    m.entry = (uint32_t)rp_view_varint(in);
    m.phase = (uint32_t)rp_view_varint(in);
    m.ref = rp_view_u64(in);
    m.clock = rp_view_varint(in);
    const uint8_t *data = rp_view_string(in, &m.bytes);
    if (in->failed || bits > RP_CPI_BITS || path != (bits + 7) / 8)
        return NULL;
    m.id.cpi.bits = (uint16_t)bits;
    memcpy(m.id.cpi.bytes, cpi, path);
    return rp_task_message_new(&m, data);
}

struct rp_task_message *rp_task_message_unpack(const struct rp_parcel_head *head,
                                               const uint8_t *data, size_t length, size_t *used)
{
    size_t path = (head->cpi_bits + 7u) / 8;
    struct rp_task_message m = {.id = {head->spe, head->srn, {.bits = head->cpi_bits}},
                                .task = head->task,
                                .epoch = head->epoch,
                                .phase = head->phase,
                                .entry = head->entry,
                                .ref = head->ref,
                                .clock = head->clock,
                                .bytes = head->bytes};

    RP_BUG_ON(head->cpi_bits > RP_CPI_BITS || length < path + head->bytes);
    memcpy(m.id.cpi.bytes, data + head->bytes, path);
    *used = head->bytes + path;
    return rp_task_message_new(&m, data);
}

void rp_task_queue_put(struct rp_task_queue *queue, struct rp_task_message *message)
{
    message->next = NULL;
    if (queue->last)
        queue->last->next = message;
    else
        queue->first = message;
    queue->last = message;
    queue->count++;
}

struct rp_task_message *rp_task_queue_take(struct rp_task_queue *queue, size_t which)
{
    struct rp_task_message *before = NULL, *message = queue->first;

    for (; message && which > 0; which--, message = message->next)
        before = message;
    if (!message)
        return NULL;
    if (before)
        before->next = message->next;
    else
        queue->first = message->next;
    if (!message->next)
        queue->last = before;
    queue->count--;
    return message;
}

void rp_task_queue_append(struct rp_task_queue *queue, struct rp_task_queue *from)
{
    for (struct rp_task_message *m; (m = rp_task_queue_take(from, 0));)
        rp_task_queue_put(queue, m);
}

void rp_task_queue_clear(struct rp_task_queue *queue)
{
    for (struct rp_task_message *m; (m = rp_task_queue_take(queue, 0));)
        free(m);
}
