/* SPDX-License-Identifier: MIT */
#include "task/task_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "task/task_trace.h"

const struct rp_collection *rp_tasks_collection(struct rp_tasks *tasks, int collection)
{
    if (collection >= 0 && collection < tasks->collection_count)
        return &tasks->collections[collection];
    rp_tasks_fail(tasks, "there is no collection %d of tasks", collection);
    return NULL;
}

struct rp_task *rp_tasks_task(struct rp_tasks *tasks, int collection, struct reprise_index index)
{
    const struct rp_collection *c = rp_tasks_collection(tasks, collection);

    if (!c)
        return NULL;
    struct reprise_index size = c->spec.size;
    if (index.x < 0 || index.x >= size.x || index.y < 0 || index.y >= size.y || index.z < 0 ||
        index.z >= size.z) {
        rp_tasks_fail(tasks, "there is no task %s(%d,%d,%d): the collection is %d x %d x %d",
                      c->spec.name, index.x, index.y, index.z, size.x, size.y, size.z);
        return NULL;
    }
    return &tasks->tasks[c->first + (uint32_t)index.x +
                         (uint32_t)size.x *
                             ((uint32_t)index.y + (uint32_t)size.y * (uint32_t)index.z)];
}

struct reprise_index rp_task_index(const struct rp_tasks *tasks, const struct rp_task *task)
{
    const struct rp_collection *c = rp_task_collection(tasks, task);
    uint32_t number = rp_task_number(tasks, task) - c->first;
    uint32_t x = (uint32_t)c->spec.size.x, y = (uint32_t)c->spec.size.y;

    return (struct reprise_index){(int)(number % x), (int)(number / x % y), (int)(number / x / y)};
}

void rp_task_name(const struct rp_tasks *tasks, const struct rp_task *task, char name[RP_TASK_NAME])
{
    struct reprise_index index = rp_task_index(tasks, task);

    snprintf(name, RP_TASK_NAME, "%.100s(%d,%d,%d)", rp_task_collection(tasks, task)->spec.name,
             index.x, index.y, index.z);
}

void rp_task_make(struct rp_tasks *tasks, struct rp_task *task)
{
    const struct rp_collection *collection = rp_task_collection(tasks, task);

    if (!task->state)
        task->state = malloc(collection->spec.state_bytes + 1);
    RP_BUG_ON(!task->state);
    memset(task->state, 0, collection->spec.state_bytes);
    memset(task->regions, 0, collection->entries * sizeof *task->regions);
    task->srn = 0;
    task->clock = task->place = task->dependent = task->other = 0;
    task->awaits_state = false;
    tasks->making = (int)task->collection;
    if (collection->spec.make)
        collection->spec.make(task->state, rp_task_index(tasks, task));
}

void rp_task_empty(struct rp_task *task)
{
    free(task->state);
    task->state = NULL;
    rp_task_queue_clear(&task->waiting);
    rp_message_ids_clear(&task->seen);
}

void rp_task_save(const struct rp_tasks *tasks, const struct rp_task *task, struct rp_buffer *out)
{
    const struct rp_collection *collection = rp_task_collection(tasks, task);

    rp_buffer_u32(out, task->srn);
    rp_buffer_varint(out, task->clock);
    rp_buffer_varint(out, task->place);
    rp_buffer_varint(out, task->dependent);
    rp_buffer_varint(out, task->other);
    rp_buffer_varint(out, task->taken_before + task->taken.count);
    for (uint32_t i = 0; i < collection->entries; i++) {
        rp_buffer_varint(out, task->regions[i].left);
        rp_buffer_varint(out, task->regions[i].size);
        rp_buffer_varint(out, task->regions[i].ordinal);
        rp_buffer_u64(out, task->regions[i].sends);
    }
    rp_buffer_varint(out, task->waiting.count);
    for (const struct rp_task_message *m = task->waiting.first; m; m = m->next)
        rp_task_message_save(m, out);
    rp_buffer_string(out, task->state, collection->spec.state_bytes);
    RP_BUG_ON(out->failed);
}

static struct rp_task_region load_region(struct rp_view *in)
{
    struct rp_task_region region = {.left = rp_view_varint(in)};

    region.size = rp_view_varint(in);
    region.ordinal = (uint32_t)rp_view_varint(in);
    region.sends = rp_view_u64(in);
    return region;
}

void rp_task_follow_known(struct rp_task *task)
{
    if (task->place > 0)
        task->first_free = false;
    for (task->followed = 0;
         task->followed < task->known.count && task->known.list[task->followed].place < task->place;
         task->followed++)
        ;
}

bool rp_task_load(struct rp_tasks *tasks, struct rp_task *task, struct rp_view *in)
{
    const struct rp_collection *collection = rp_task_collection(tasks, task);
    size_t length;

    free(task->state);
    task->state = NULL;
    task->srn = rp_view_u32(in);
    task->clock = rp_view_varint(in);
    task->place = rp_view_varint(in);
    task->dependent = rp_view_varint(in);
    task->other = rp_view_varint(in);
    rp_task_trace_moved(task, rp_view_varint(in));
    for (uint32_t i = 0; i < collection->entries; i++)
        task->regions[i] = load_region(in);
    for (uint64_t count = rp_view_varint(in); count > 0 && !in->failed; count--) {
        struct rp_task_message *m = rp_task_message_load(rp_task_number(tasks, task), in);
        if (!m)
            return false;
        rp_task_queue_put(&task->waiting, m);
    }
    const uint8_t *state = rp_view_string(in, &length);
    if (in->failed || length != collection->spec.state_bytes)
        return false;
    task->state = malloc(length + 1);
    RP_BUG_ON(!task->state);
    memcpy(task->state, state, length);
    task->awaits_state = false;
    rp_task_follow_known(task);
    return true;
}

uint64_t rp_task_hash(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    uint64_t hash = length;

    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    for (; length > 0; at++, length--)
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}
