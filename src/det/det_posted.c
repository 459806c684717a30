/* SPDX-License-Identifier: MIT */
#include "det/det_posted.h"

#include <stdlib.h>

#include "base/diagnostics.h"

enum { QUEUES = 1024 };

static struct {
    struct rp_det_queue *table[QUEUES];
    struct rp_det_queue *delayed; /* the first */
    uint64_t count, posts;        /* receives that are here, and that ever were */
} posted;

static unsigned slot_of(uint64_t comm, uint32_t world, int tag)
{
    uint64_t x = (comm ^ (uint64_t)world * 31 ^ (uint64_t)(unsigned)tag * 2654435761u) *
                 UINT64_C(0x9e3779b97f4a7c15);

    return (unsigned)(x >> 54);
}

static struct rp_det_queue *find(uint64_t comm, uint32_t world, int tag)
{
    struct rp_det_queue *queue = posted.table[slot_of(comm, world, tag)];

    while (queue && !(queue->comm->id == comm && queue->world == world && queue->tag == tag))
        queue = queue->chain;
    return queue;
}

static uint32_t world_of(const struct rp_det_receive *receive)
{
    return receive->source == MPI_ANY_SOURCE ? RP_DET_ANYONE : receive->world;
}

static struct rp_det_queue *find_or_make(const struct rp_det_receive *receive)
{
    uint32_t world = world_of(receive);
    struct rp_det_queue *queue = find(receive->comm->id, world, receive->tag),
                        **slot = &posted.table[slot_of(receive->comm->id, world, receive->tag)];

    if (queue)
        return queue;
    queue = malloc(sizeof *queue);
    if (!queue)
        rp_bug(__FILE__, __LINE__, "out of memory for receives");
    *queue = (struct rp_det_queue){.comm = receive->comm,
                                   .world = world,
                                   .tag = receive->tag,
                                   .chain = *slot};
    return *slot = queue;
}

static void add_delayed(struct rp_det_queue *queue)
{
    if (queue->delayed++ > 0)
        return;
    queue->previous = NULL;
    queue->next = posted.delayed;
    if (posted.delayed)
        posted.delayed->previous = queue;
    posted.delayed = queue;
}

static void remove_delayed(struct rp_det_queue *queue)
{
    if (--queue->delayed > 0)
        return;
    *(queue->previous ? &queue->previous->next : &posted.delayed) = queue->next;
    if (queue->next)
        queue->next->previous = queue->previous;
}

void rp_det_posted_add(struct rp_det_receive *receive)
{
    struct rp_det_queue *queue = find_or_make(receive);

    receive->queue = queue;
    receive->number = ++posted.posts;
    receive->next = NULL;
    receive->previous = queue->last;
    *(queue->last ? &queue->last->next : &queue->first) = receive;
    queue->last = receive;
    receive->is_listed = true;
    posted.count++;
    if (receive->is_delayed)
        add_delayed(queue);
}

static void drop(struct rp_det_queue *queue)
{
    struct rp_det_queue **link = &posted.table[slot_of(queue->comm->id, queue->world, queue->tag)];

    while (*link != queue)
        link = &(*link)->chain;
    *link = queue->chain;
    free(queue);
}

void rp_det_posted_remove(struct rp_det_receive *receive)
{
    struct rp_det_queue *queue = receive->queue;

    *(receive->previous ? &receive->previous->next : &queue->first) = receive->next;
    *(receive->next ? &receive->next->previous : &queue->last) = receive->previous;
    receive->is_listed = false;
    posted.count--;
    if (receive->is_delayed)
        remove_delayed(queue);
    if (!queue->first)
        drop(queue);
}

bool rp_det_posted_is_empty(void)
{
    return posted.count == 0;
}

bool rp_det_posted_uses(const struct rp_det_comm *comm)
{
    for (unsigned i = 0; posted.count > 0 && i < QUEUES; i++)
        for (const struct rp_det_queue *queue = posted.table[i]; queue; queue = queue->chain)
            if (queue->comm == comm)
                return true;
    return false;
}

bool rp_det_posted_delays(const struct rp_det_comm *comm)
{
    for (const struct rp_det_queue *queue = posted.delayed; queue; queue = queue->next)
        if (queue->comm == comm)
            return true;
    return false;
}

static struct rp_det_receive *earlier(struct rp_det_receive *best, uint64_t comm, uint32_t world,
                                      int tag)
{
    struct rp_det_queue *queue = find(comm, world, tag);

    return queue && (!best || queue->first->number < best->number) ? queue->first : best;
}

struct rp_det_receive *rp_det_posted_first(const struct rp_shared_message *message,
                                           const struct rp_det_receive *before)
{
    struct rp_det_receive *best = NULL;

    if (posted.count == 0)
        return NULL;
    best = earlier(best, message->comm, message->source, message->tag);
    best = earlier(best, message->comm, message->source, MPI_ANY_TAG);
    best = earlier(best, message->comm, RP_DET_ANYONE, message->tag);
    best = earlier(best, message->comm, RP_DET_ANYONE, MPI_ANY_TAG);
    return best && before && before->is_listed && best->number >= before->number ? NULL : best;
}

bool rp_det_posted_overlaps(const struct rp_det_receive *receive)
{
    for (const struct rp_det_queue *queue = posted.delayed; queue; queue = queue->next)
        if (queue->comm->id == receive->comm->id &&
            (queue->world == RP_DET_ANYONE || receive->source == MPI_ANY_SOURCE ||
             queue->world == receive->world) &&
            (queue->tag == MPI_ANY_TAG || receive->tag == MPI_ANY_TAG ||
             queue->tag == receive->tag))
            return true;
    return false;
}

struct rp_det_queue *rp_det_posted_next(const struct rp_det_queue *queue)
{
    return queue ? queue->next : posted.delayed;
}
