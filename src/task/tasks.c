/* SPDX-License-Identifier: MIT */
/*
 * A message goes to its task's process, or at once into the queue if that is this one. What the
 * queue gives out runs if it may (task_order.c), else it waits at its task, and is looked at again
 * after each entry that ran there.
 *
 * What runs decides the names of the messages that it sends (identity.h): inside a commutative
 * entry they follow from the message that is handled; else the task's SRN counts them. The end of a
 * region is an event of its own, since it must not depend on which message came last: what it sends
 * is named by the region.
 */
#include "task/task.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/journal.h"
#include "base/diagnostics.h"
#include "task/task_watch.h"

struct rp_tasks *rp_tasks_now;

void *rp_task_memory(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);

    if (!memory)
        rp_bug(__FILE__, __LINE__, "no memory for tasks");
    return memory;
}

void rp_tasks_lost(struct rp_tasks *tasks, const char *format, ...)
{
    char text[600];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tasks->is_lost = true;
    tasks->transport.lost(tasks->transport.data, text);
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

struct rp_parcel *rp_parcel_new(size_t length)
{
    struct rp_parcel *parcel = malloc(sizeof *parcel + length);

    if (!parcel || length > UINT32_MAX)
        rp_bug(__FILE__, __LINE__, "no memory for a message");
    *parcel = (struct rp_parcel){.uses = 1, .length = (uint32_t)length};
    return parcel;
}

struct rp_parcel *rp_parcel_in(struct rp_arenas *arenas, size_t length)
{
    struct rp_arena *from;
    struct rp_parcel *parcel = rp_arena_take(arenas, sizeof *parcel + length, &from);

    if (!parcel || length > UINT32_MAX)
        rp_bug(__FILE__, __LINE__, "no memory for a message");
    *parcel = (struct rp_parcel){.uses = 1, .length = (uint32_t)length, .arena = from};
    return parcel;
}

void rp_parcel_drop(struct rp_parcel *parcel)
{
    if (--parcel->uses > 0)
        return;
    if (parcel->arena)
        rp_arena_give(parcel->arena);
    else
        free(parcel);
}

void rp_queue_put(struct rp_task_queue *queue, struct rp_task_message *message)
{
    message->next = NULL;
    if (!queue->first)
        queue->end = &queue->first;
    *queue->end = message;
    queue->end = &message->next;
    queue->count++;
}

struct rp_task_message *rp_queue_take(struct rp_task_queue *queue, size_t which)
{
    struct rp_task_message **at = &queue->first;

    for (; *at && which > 0; which--)
        at = &(*at)->next;
    struct rp_task_message *message = *at;
    if (!message)
        return NULL;
    *at = message->next;
    if (!message->next)
        queue->end = at;
    queue->count--;
    return message;
}

void rp_queue_clear(struct rp_task_queue *queue)
{
    for (struct rp_task_message *message; (message = rp_queue_take(queue, 0));)
        free(message);
}

void rp_tasks_init(struct rp_tasks *tasks, enum rp_task_mode mode, int self, int processes,
                   const struct rp_transport *transport)
{
    *tasks = (struct rp_tasks){.mode = mode,
                               .self = self,
                               .processes = processes,
                               .transport = *transport,
                               .spread = 16,
                               .copies = 1};
    tasks->sent = rp_task_memory((size_t)processes * sizeof *tasks->sent);
    tasks->received = rp_task_memory((size_t)processes * sizeof *tasks->received);
    tasks->sent_fresh = rp_task_memory((size_t)processes * sizeof *tasks->sent_fresh);
    tasks->held_by = rp_task_memory((size_t)processes * sizeof *tasks->held_by);
    tasks->hold_due = rp_task_memory((size_t)processes * sizeof *tasks->hold_due);
    tasks->dead = rp_task_memory((size_t)processes);
    tasks->deaths = rp_task_memory((size_t)processes * sizeof *tasks->deaths);
    tasks->heard = rp_task_memory((size_t)processes * sizeof *tasks->heard);
    tasks->parts = rp_task_memory((size_t)processes * sizeof *tasks->parts);
    tasks->reported = rp_task_memory(RP_TASK_COLLECTIONS * RP_TASK_ENTRIES);
}

static void free_task(struct rp_tasks *tasks, struct rp_task *task)
{
    rp_task_empty(tasks, task);
    rp_task_log_clear(task);
    free(task->regions);
    free(task->made.list);
    free(task->known.list);
    free(task->held.list);
    free(task->copy.bytes);
    free(task->attempt.bytes);
    free(task->digests);
    free(task->taken.list);
}

void rp_tasks_free(struct rp_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->task_count; i++)
        free_task(tasks, &tasks->tasks[i]);
    for (int i = 0; i < tasks->reduction_count; i++)
        free(tasks->reductions[i].values);
    rp_queue_clear(&tasks->ready);
    for (size_t i = 0; i < tasks->early_count; i++)
        rp_parcel_drop(tasks->early[i].parcel);
    free(tasks->early);
    rp_queue_clear(&tasks->starts);
    free(tasks->reductions);
    free(tasks->tasks);
    free(tasks->sent);
    free(tasks->received);
    free(tasks->sent_fresh);
    free(tasks->held_by);
    free(tasks->hold_due);
    free(tasks->dead);
    free(tasks->deaths);
    free(tasks->heard);
    free(tasks->parts);
    if (tasks->journal)
        rp_journal_close(tasks->journal, false);
    rp_arenas_free(&tasks->log);
    rp_buffer_free(&tasks->arrived);
    free(tasks->reported);
    rp_tasktrace_free(&tasks->trace.followed);
    free(tasks->fresh.list);
    free(tasks->told.list);
    for (struct rp_told_early *early; (early = tasks->told_early); free(early))
        tasks->told_early = early->next;
    *tasks = (struct rp_tasks){0};
}

/* Collections */

static int at_least_one(int size)
{
    return size > 0 ? size : 1;
}

static struct reprise_index index_of(const struct rp_collection *collection, uint32_t number)
{
    uint32_t x = (uint32_t)collection->spec.size.x, y = (uint32_t)collection->spec.size.y;

    return (struct reprise_index){(int)(number % x), (int)(number / x % y), (int)(number / x / y)};
}

struct reprise_index rp_task_index(const struct rp_tasks *tasks, const struct rp_task *task)
{
    const struct rp_collection *collection = &tasks->collections[task->collection];

    return index_of(collection, rp_task_number(tasks, task) - collection->first);
}

void rp_task_name(const struct rp_tasks *tasks, const struct rp_task *task, char name[160])
{
    struct reprise_index index = rp_task_index(tasks, task);

    snprintf(name, 160, "%.100s(%d,%d,%d)", tasks->collections[task->collection].spec.name, index.x,
             index.y, index.z);
}

static const struct rp_collection *collection_of(struct rp_tasks *tasks, int collection)
{
    if (collection >= 0 && collection < tasks->collection_count)
        return &tasks->collections[collection];
    rp_tasks_lost(tasks, "there is no collection %d of tasks", collection);
    return NULL;
}

static struct rp_task *task_at(struct rp_tasks *tasks, int collection, struct reprise_index index)
{
    const struct rp_collection *c = collection_of(tasks, collection);

    if (!c)
        return NULL;
    struct reprise_index size = c->spec.size;
    if (index.x < 0 || index.x >= size.x || index.y < 0 || index.y >= size.y || index.z < 0 ||
        index.z >= size.z) {
        rp_tasks_lost(tasks, "there is no task %s(%d,%d,%d): the collection is %d x %d x %d",
                      c->spec.name, index.x, index.y, index.z, size.x, size.y, size.z);
        return NULL;
    }
    return &tasks->tasks[c->first + (uint32_t)index.x +
                         (uint32_t)size.x *
                             ((uint32_t)index.y + (uint32_t)size.y * (uint32_t)index.z)];
}

void rp_task_make(struct rp_tasks *tasks, struct rp_task *task)
{
    const struct rp_collection *collection = &tasks->collections[task->collection];

    if (!task->state)
        task->state = malloc(collection->spec.state_bytes + 1);
    RP_BUG_ON(!task->state);
    memset(task->state, 0, collection->spec.state_bytes);
    memset(task->regions, 0, collection->entries * sizeof *task->regions);
    task->srn = 0;
    task->clock = task->place = task->dependent = task->other = 0;
    task->due = false;
    tasks->making = (int)task->collection;
    if (collection->spec.make)
        collection->spec.make(task->state, rp_task_index(tasks, task));
}

void rp_task_empty(struct rp_tasks *tasks, struct rp_task *task)
{
    (void)tasks;
    free(task->state);
    task->state = NULL;
    rp_queue_clear(&task->waiting);
    rp_message_ids_clear(&task->seen);
}

static bool is_right(struct rp_tasks *tasks, const struct reprise_collection_spec *spec,
                     uint32_t *entries, bool *has_dependent)
{
    *entries = 0, *has_dependent = false;
    if (tasks->running || tasks->kind != RP_STAGE_OUT) {
        rp_tasks_lost(tasks, "collection %s: an entry cannot make collections", spec->name);
        return false;
    }
    for (const struct reprise_entry *entry = spec->entries; entry && entry->name;
         entry++, (*entries)++) {
        if (!entry->run || entry->order < REPRISE_ORDERED || entry->order > REPRISE_COMMUTATIVE ||
            (entry->order == REPRISE_COMMUTATIVE && !entry->count) ||
            (entry->order == REPRISE_ORDERED && entry->count) ||
            (entry->order != REPRISE_COMMUTATIVE && entry->finish)) {
            rp_tasks_lost(
                tasks,
                "collection %s, entry %s: it needs a function, an order, and if commutative a "
                "count; ordered ones have no count, and only commutative ones a finish",
                spec->name, entry->name);
            return false;
        }
        *has_dependent |= entry->order == REPRISE_ORDER_DEPENDENT;
    }
    if (tasks->collection_count == RP_TASK_COLLECTIONS || *entries > RP_TASK_ENTRIES) {
        rp_tasks_lost(tasks, "collection %s: there may be %d collections with %d entries",
                      spec->name, RP_TASK_COLLECTIONS, RP_TASK_ENTRIES);
        return false;
    }
    uint64_t x = (uint64_t)at_least_one(spec->size.x), y = (uint64_t)at_least_one(spec->size.y),
             z = (uint64_t)at_least_one(spec->size.z);
    if (x * y > RP_TASK_MOST || x * y * z > RP_TASK_MOST - tasks->task_count ||
        spec->state_bytes > RP_TASK_STATE_MOST) {
        rp_tasks_lost(tasks, "collection %s: there may be %d tasks with states of %d bytes",
                      spec->name, RP_TASK_MOST, RP_TASK_STATE_MOST);
        return false;
    }
    return true;
}

static int add_collection(struct rp_tasks *tasks, const struct reprise_collection_spec *spec)
{
    struct rp_collection *c = &tasks->collections[tasks->collection_count];
    uint32_t entries;
    bool has_dependent;

    if (!is_right(tasks, spec, &entries, &has_dependent))
        return -1;
    *c = (struct rp_collection){.spec = *spec,
                                .first = tasks->task_count,
                                .entries = entries,
                                .has_dependent = has_dependent,
                                .version = tasks->version};
    c->is_counted = entries == 1 && has_dependent && spec->entries[0].count;
    c->spec.size = (struct reprise_index){at_least_one(spec->size.x), at_least_one(spec->size.y),
                                          at_least_one(spec->size.z)};
    c->count = (uint32_t)c->spec.size.x * (uint32_t)c->spec.size.y * (uint32_t)c->spec.size.z;
    tasks->tasks = realloc(tasks->tasks, (tasks->task_count + c->count) * sizeof *tasks->tasks);
    RP_BUG_ON(!tasks->tasks);
    tasks->task_count += c->count;
    for (uint32_t i = 0; i < c->count; i++) {
        struct rp_task *task = &tasks->tasks[c->first + i];
        *task = (struct rp_task){.collection = (uint32_t)tasks->collection_count};
        task->regions = rp_task_memory(entries * sizeof *task->regions);
    }
    rp_owners_map(tasks, c, spec->map);
    for (uint32_t i = c->first; i < tasks->task_count; i++)
        if (tasks->tasks[i].owner == tasks->self)
            rp_task_make(tasks, &tasks->tasks[i]);
    rp_determinants_settle(tasks);
    /* Queues and logs point into themselves, and realloc has moved them. */
    for (uint32_t i = 0; i < c->first; i++) {
        struct rp_task *task = &tasks->tasks[i];
        struct rp_task_queue *queue = &task->waiting;
        queue->end = &queue->first;
        while (*queue->end)
            queue->end = &(*queue->end)->next;
        task->log_end = &task->log;
        while (*task->log_end)
            task->log_end = &(*task->log_end)->next;
    }
    return tasks->collection_count++;
}

/* Save and load: for checkpoints and moves. */

static void save_message(const struct rp_task_message *m, struct rp_buffer *out)
{
    rp_buffer_u32(out, m->id.spe);
    rp_buffer_u32(out, m->id.srn);
    rp_buffer_string(out, m->id.cpi.bytes, (m->id.cpi.bits + 7u) / 8);
    rp_buffer_varint(out, m->id.cpi.bits);
    rp_buffer_varint(out, m->entry);
    rp_buffer_varint(out, m->stage);
    rp_buffer_u64(out, m->ref);
    rp_buffer_varint(out, m->clock);
    rp_buffer_string(out, m->data, m->bytes);
}

static struct rp_task_message *load_message(uint32_t task, struct rp_view *in)
{
    struct rp_message_id id = {.spe = rp_view_u32(in), .srn = rp_view_u32(in)};
    size_t path, length;
    const uint8_t *bytes = rp_view_string(in, &path);
    uint64_t bits = rp_view_varint(in), entry = rp_view_varint(in), stage = rp_view_varint(in),
             ref = rp_view_u64(in), clock = rp_view_varint(in);
    const uint8_t *data = rp_view_string(in, &length);

    if (in->failed || bits > RP_CPI_BITS || path != (bits + 7) / 8)
        return NULL;
    struct rp_task_message *m = malloc(sizeof *m + length);
    RP_BUG_ON(!m);
    id.cpi.bits = (uint16_t)bits;
    memcpy(id.cpi.bytes, bytes, path);
    *m = (struct rp_task_message){.id = id,
                                  .task = task,
                                  .entry = (uint32_t)entry,
                                  .stage = (uint32_t)stage,
                                  .ref = ref,
                                  .clock = clock,
                                  .bytes = length};
    memcpy(m->data, data, length);
    return m;
}

void rp_task_save(const struct rp_tasks *tasks, const struct rp_task *task, struct rp_buffer *out)
{
    const struct rp_collection *collection = &tasks->collections[task->collection];

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
        save_message(m, out);
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

bool rp_task_load(struct rp_tasks *tasks, struct rp_task *task, struct rp_view *in)
{
    const struct rp_collection *collection = &tasks->collections[task->collection];
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
        struct rp_task_message *m = load_message(rp_task_number(tasks, task), in);
        if (!m)
            return false;
        rp_queue_put(&task->waiting, m);
    }
    const uint8_t *state = rp_view_string(in, &length);
    if (in->failed || length != collection->spec.state_bytes)
        return false;
    task->state = malloc(length + 1);
    RP_BUG_ON(!task->state);
    memcpy(task->state, state, length);
    task->due = false;
    rp_task_order_follow(task);
    return true;
}

/* Execution */

static void end_region(struct rp_tasks *tasks, struct rp_task *task,
                       const struct rp_task_message *last)
{
    uint32_t entry = last->entry;
    const struct reprise_entry *spec = &tasks->collections[task->collection].spec.entries[entry];

    if (spec->finish) {
        /* Its sends are named by the region, not by the task's count: regions that overlap may end
         * in any order. Regions of one message, by that: they may come in any order, too. */
        struct rp_task_message end = {.entry = entry};
        tasks->handled = task->regions[entry].size == 1 ? last : &end;
        tasks->ends = true;
        tasks->children = 0;
        spec->finish(task->state);
        tasks->ends = false;
        tasks->handled = NULL;
    }
    rp_task_order_finished(tasks, task, entry);
}

static void open_region(struct rp_tasks *tasks, struct rp_task *task, uint32_t entry)
{
    size_t count = tasks->collections[task->collection].spec.entries[entry].count(task->state);

    if (count == 0) {
        char name[160];
        rp_task_name(tasks, task, name);
        rp_tasks_lost(tasks, "task %s, entry %s: a message has come for a region of no messages",
                      name, tasks->collections[task->collection].spec.entries[entry].name);
        return;
    }
    task->regions[entry].left = task->regions[entry].size = count;
    task->regions[entry].ordinal++;
    if (count > 1)
        task->regions[entry].sends = 0;
}

static void execute(struct rp_tasks *tasks, struct rp_task *task, struct rp_task_message *m)
{
    const struct reprise_entry *entry =
        &tasks->collections[task->collection].spec.entries[m->entry];
    struct reprise_message told = {m->ref, m->data, m->bytes};
    bool commutes = entry->order == REPRISE_COMMUTATIVE;

    rp_task_watch_did();
    rp_task_trace_note(tasks, task, m);
    tasks->counts[RP_COUNT_MESSAGES]++;
    tasks->running = task;
    task->clock = (m->clock > task->clock ? m->clock : task->clock) + 1;
    if (entry->count && task->regions[m->entry].left == 0)
        open_region(tasks, task, m->entry);
    if (!tasks->is_lost) {
        rp_task_order_note(tasks, task, m);
        tasks->handled = commutes ? m : NULL;
        tasks->children = 0;
        entry->run(task->state, &told);
        if (entry->count && --task->regions[m->entry].left == 0 && commutes)
            end_region(tasks, task, m);
    }
    tasks->handled = NULL;
    tasks->running = NULL;
    free(m);
}

static bool may_run(struct rp_tasks *tasks, const struct rp_task *task,
                    const struct rp_task_message *m)
{
    const struct reprise_entry *entry =
        &tasks->collections[task->collection].spec.entries[m->entry];

    return task->state && (!entry->ready || entry->ready(task->state, m->ref)) &&
           rp_task_order_may_run(tasks, task, m) && rp_task_trace_may_run(tasks, task, m);
}

void rp_tasks_look_again(struct rp_tasks *tasks, struct rp_task *task)
{
    size_t at = 0;

    for (const struct rp_task_message *m = task->waiting.first; m && !tasks->is_lost;) {
        if (!may_run(tasks, task, m)) {
            m = m->next, at++;
            continue;
        }
        execute(tasks, task, rp_queue_take(&task->waiting, at));
        m = task->waiting.first, at = 0;
    }
}

/* A message for one of our tasks, from elsewhere. Those that a task has had are dropped. */
void rp_tasks_deliver(struct rp_tasks *tasks, struct rp_task_message *m)
{
    RP_BUG_ON(m->task >= tasks->task_count || tasks->tasks[m->task].owner != tasks->self);
    if (tasks->mode == RP_TASKS_RESTART && m->epoch < tasks->epoch) {
        free(m);
        return;
    }
    if (rp_tasks_ft_logs(tasks) && !rp_task_log_arrived(tasks, m->task, &m->id)) {
        tasks->counts[RP_COUNT_DUPLICATES]++;
        free(m);
        return;
    }
    rp_queue_put(&tasks->ready, m);
}

/* From here, it need not be remembered: sender and receiver die together. But a task that we took
 * over may send again what its receiver had from elsewhere. */
void rp_tasks_deliver_here(struct rp_tasks *tasks, struct rp_task_message *m)
{
    if (tasks->running && tasks->running->adopted && rp_tasks_ft_logs(tasks) &&
        rp_message_ids_has(&tasks->tasks[m->task].seen, &m->id)) {
        tasks->counts[RP_COUNT_DUPLICATES]++;
        free(m);
        return;
    }
    rp_queue_put(&tasks->ready, m);
}

static uint64_t next_random(struct rp_tasks *tasks)
{
    tasks->random ^= tasks->random << 13;
    tasks->random ^= tasks->random >> 7;
    tasks->random ^= tasks->random << 17;
    return tasks->random;
}

/* Whether to wait a little for others that may come before it: where messages are shuffled, and
 * there are few to shuffle. */
static bool is_patient(struct rp_tasks *tasks)
{
    enum { FEW = 3, PATIENCE = 40 };

    if (!tasks->shuffles || tasks->ready.count == 0 || tasks->ready.count > FEW ||
        tasks->idle_turns > PATIENCE)
        return false;
    tasks->idle_turns++;
    return next_random(tasks) % 8 != 0;
}

static bool run_one(struct rp_tasks *tasks)
{
    if (tasks->ready.count == 0 || is_patient(tasks))
        return tasks->ready.count > 0;
    tasks->idle_turns = 0;
    struct rp_task_message *m =
        rp_queue_take(&tasks->ready, tasks->random ? next_random(tasks) % tasks->ready.count : 0);
    struct rp_task *task = &tasks->tasks[m->task];
    if (!may_run(tasks, task, m)) {
        rp_queue_put(&task->waiting, m);
        return true;
    }
    execute(tasks, task, m);
    if (task->waiting.count > 0)
        rp_tasks_look_again(tasks, task);
    return true;
}

/* Parcels */

static struct rp_task_message *unpack(const struct rp_parcel_head *head, const uint8_t *data,
                                      size_t length)
{
    size_t path = (head->cpi_bits + 7u) / 8;
    struct rp_task_message *m = malloc(sizeof *m + head->bytes);

    RP_BUG_ON(!m || head->cpi_bits > RP_CPI_BITS || length < path + head->bytes);
    *m = (struct rp_task_message){.id = {head->spe, head->srn, {.bits = head->cpi_bits}},
                                  .task = head->task,
                                  .epoch = head->epoch,
                                  .stage = head->stage,
                                  .entry = head->entry,
                                  .ref = head->ref,
                                  .clock = head->clock,
                                  .bytes = head->bytes};
    memcpy(m->id.cpi.bytes, data + head->bytes, path);
    memcpy(m->data, data, head->bytes);
    return m;
}

/* Of a stage or epoch that is not ours yet: it waits as it is, with its determinants, which a
 * checkpoint in between must not clear away. */
static void put_aside(struct rp_tasks *tasks, int process, struct rp_parcel *parcel)
{
    if (tasks->early_count == tasks->early_room) {
        tasks->early_room = tasks->early_room ? 2 * tasks->early_room : 16;
        tasks->early = realloc(tasks->early, tasks->early_room * sizeof *tasks->early);
        RP_BUG_ON(!tasks->early);
    }
    tasks->early[tasks->early_count++] = (struct rp_task_early){parcel, process};
}

static void take_parcel(struct rp_tasks *tasks, int process, struct rp_parcel *parcel)
{
    struct rp_parcel_head head;

    memcpy(&head, parcel->bytes, sizeof head);
    const uint8_t *data = parcel->bytes + sizeof head;
    size_t length = parcel->length - sizeof head;
    bool is_early = head.stage > tasks->stage || head.epoch > tasks->epoch;
    if ((head.kind == RP_PARCEL_MESSAGE && (is_early || tasks->kind == RP_STAGE_OUT)) ||
        (head.kind == RP_PARCEL_WANT && is_early)) {
        put_aside(tasks, process, parcel);
        return;
    }
    switch (head.kind) {
    case RP_PARCEL_MESSAGE: {
        struct rp_task_message *m = unpack(&head, data, length);
        size_t used = head.bytes + (head.cpi_bits + 7u) / 8;
        if (head.determinants > 0)
            rp_determinants_hold(tasks, process, head.determinants, data + used, length - used);
        rp_tasks_deliver(tasks, m);
        break;
    }
    case RP_PARCEL_RESULT:
        rp_reduce_result(tasks, &head, data);
        break;
    case RP_PARCEL_STORE:
        rp_tasks_ft_stored(tasks, &head, data);
        break;
    case RP_PARCEL_MOVE:
        rp_owners_moved(tasks, &head, data);
        break;
    case RP_PARCEL_WANT:
        rp_owners_wanted(tasks, process, &head, data);
        break;
    case RP_PARCEL_GIVE:
        rp_owners_given(tasks, &head, data);
        break;
    case RP_PARCEL_RECOVERY:
        rp_tasks_ft_told(tasks, process, &head, data);
        break;
    case RP_PARCEL_HELD:
        rp_determinants_held(tasks, process, head.ref);
        break;
    default:
        rp_stage_take(tasks, process, &head, data);
    }
    rp_parcel_drop(parcel);
}

void rp_tasks_take_early(struct rp_tasks *tasks)
{
    struct rp_task_early *early = tasks->early;
    size_t count = tasks->early_count;

    tasks->early = NULL;
    tasks->early_count = tasks->early_room = 0;
    for (size_t i = 0; i < count; i++) {
        if (tasks->dead[early[i].process])
            rp_parcel_drop(early[i].parcel);
        else
            take_parcel(tasks, early[i].process, early[i].parcel);
    }
    free(early);
}

static void receive(struct rp_tasks *tasks, int process, struct rp_parcel *parcel)
{
    RP_BUG_ON(parcel->length < sizeof(struct rp_parcel_head));
    if (parcel->bytes[0] <= RP_PARCEL_COUNTED)
        tasks->received[process]++;
    take_parcel(tasks, process, parcel);
}

void rp_tasks_send_parcel(struct rp_tasks *tasks, int process, struct rp_parcel *parcel)
{
    if (parcel->bytes[0] <= RP_PARCEL_COUNTED)
        tasks->sent[process]++;
    tasks->transport.send(tasks->transport.data, process, parcel);
}

void rp_tasks_tell(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head,
                   const void *data, size_t length)
{
    struct rp_parcel_head told = *head;

    if (length > INT32_MAX - sizeof told) {
        rp_tasks_lost(tasks, "%zu bytes for process %d are more than a message of MPI holds",
                      length, process);
        return;
    }
    struct rp_parcel *parcel = rp_parcel_new(sizeof told + length);
    told.bytes = (uint32_t)length;
    memcpy(parcel->bytes, &told, sizeof told);
    if (length > 0)
        memcpy(parcel->bytes + sizeof told, data, length);
    rp_tasks_send_parcel(tasks, process, parcel);
}

void rp_tasks_tell_buffer(struct rp_tasks *tasks, int process, struct rp_parcel_head head,
                          struct rp_buffer *buffer)
{
    RP_BUG_ON(buffer->failed);
    rp_tasks_tell(tasks, process, &head, buffer->bytes, buffer->length);
    rp_buffer_free(buffer);
}

bool rp_tasks_step(struct rp_tasks *tasks)
{
    int process;
    bool did = false;

    rp_tasks_now = tasks;
    for (struct rp_parcel *parcel;
         (parcel = tasks->transport.receive(tasks->transport.data, &process)); did = true) {
        if (tasks->dead[process]) /* it has told everything again, or will */
            rp_parcel_drop(parcel);
        else
            receive(tasks, process, parcel);
    }
    if (tasks->is_lost)
        return false;
    if (!tasks->recovering && run_one(tasks))
        return true;
    rp_determinants_say_held(tasks);
    if (!tasks->recovering && tasks->ready.count == 0)
        rp_stage_idle(tasks);
    return did;
}

/* Sends */

static struct rp_message_id next_identity(struct rp_tasks *tasks)
{
    struct rp_task *task = tasks->running;

    if (!tasks->handled)
        return (struct rp_message_id){.spe = rp_task_number(tasks, task), .srn = ++task->srn};
    const struct rp_task_region *region = &task->regions[tasks->handled->entry];
    struct rp_message_id id = {.spe = rp_task_number(tasks, task),
                               .srn = tasks->ends && region->size > 1 ? region->ordinal : 0};
    if (!rp_cpi_child(&tasks->handled->id, 2 * tasks->handled->entry + tasks->ends,
                      tasks->children++, &id.cpi)) {
        char name[160];
        rp_task_name(tasks, task, name);
        rp_tasks_lost(tasks,
                      "task %s: a chain of messages through commutative regions is too long: its "
                      "path takes more than %d bits",
                      name, RP_CPI_BITS);
    }
    return id;
}

static struct rp_parcel *pack(struct rp_tasks *tasks, int process, const struct rp_task_message *m,
                              const void *data)
{
    struct rp_buffer fresh = {0};
    size_t path = (m->id.cpi.bits + 7u) / 8;
    uint32_t determinants = rp_determinants_put_fresh(tasks, process, &fresh);
    struct rp_parcel_head head = {RP_PARCEL_MESSAGE,
                                  (uint8_t)m->entry,
                                  m->id.cpi.bits,
                                  m->epoch,
                                  m->stage,
                                  m->task,
                                  m->id.spe,
                                  m->id.srn,
                                  determinants,
                                  (uint32_t)m->bytes,
                                  m->ref,
                                  m->clock};
    size_t length = sizeof head + m->bytes + path + fresh.length;
    struct rp_parcel *parcel =
        rp_tasks_ft_logs(tasks) ? rp_parcel_in(&tasks->log, length) : rp_parcel_new(length);

    memcpy(parcel->bytes, &head, sizeof head);
    if (m->bytes > 0)
        memcpy(parcel->bytes + sizeof head, data, m->bytes);
    memcpy(parcel->bytes + sizeof head + m->bytes, m->id.cpi.bytes, path);
    if (fresh.length > 0)
        memcpy(parcel->bytes + sizeof head + m->bytes + path, fresh.bytes, fresh.length);
    tasks->counts[RP_COUNT_DETERMINANT_BYTES] += fresh.length;
    rp_buffer_free(&fresh);
    return parcel;
}

static void send_to(struct rp_tasks *tasks, struct rp_task *to, int entry, uint64_t ref,
                    const void *data, size_t bytes)
{
    struct rp_task_message m = {.task = rp_task_number(tasks, to),
                                .epoch = tasks->epoch,
                                .stage = tasks->stage,
                                .entry = (uint32_t)entry,
                                .ref = ref,
                                .bytes = bytes};

    if (entry < 0 || (uint32_t)entry >= tasks->collections[to->collection].entries ||
        bytes > RP_TASK_STATE_MOST) {
        rp_tasks_lost(
            tasks,
            "collection %s has no entry %d, or %zu bytes are too long for a message (%d at most)",
            tasks->collections[to->collection].spec.name, entry, bytes, RP_TASK_STATE_MOST);
        return;
    }
    if (!tasks->running) {
        rp_tasks_lost(tasks,
                      "collection %s: only entries send; what begins a run is put by reprise_start",
                      tasks->collections[to->collection].spec.name);
        return;
    }
    m.clock = ++tasks->running->clock;
    m.id = next_identity(tasks);
    if (tasks->is_lost)
        return;
    if (tasks->handled && (tasks->mode == RP_TASKS_RECORD || tasks->mode == RP_TASKS_REPLAY))
        tasks->running->regions[tasks->handled->entry].sends +=
            (rp_message_id_hash(&m.id) + m.task * UINT64_C(31) + ref) *
            (rp_task_hash(data, bytes) | 1);
    if (to->owner != tasks->self) {
        struct rp_parcel *parcel = pack(tasks, to->owner, &m, data);
        tasks->counts[RP_COUNT_REMOTE]++;
        if (rp_tasks_ft_logs(tasks))
            rp_task_log_sent(tasks, to, parcel);
        rp_tasks_send_parcel(tasks, to->owner, parcel);
        return;
    }
    struct rp_task_message *local = malloc(sizeof m + bytes);
    RP_BUG_ON(!local);
    *local = m;
    if (bytes > 0)
        memcpy(local->data, data, bytes);
    rp_tasks_deliver_here(tasks, local);
}

struct rp_task_message *rp_message_copy(const struct rp_task_message *m)
{
    struct rp_task_message *copy = malloc(sizeof *copy + m->bytes);

    RP_BUG_ON(!copy);
    memcpy(copy, m, sizeof *m + m->bytes);
    return copy;
}

/* The public functions that need no MPI. */

int reprise_collection(const struct reprise_collection_spec *spec)
{
    if (!rp_tasks_now)
        rp_bug(__FILE__, __LINE__, "reprise_collection comes after reprise_tasks_begin");
    return add_collection(rp_tasks_now, spec);
}

void reprise_send(int collection, struct reprise_index to, int entry, uint64_t ref,
                  const void *data, size_t bytes)
{
    struct rp_task *task = task_at(rp_tasks_now, collection, to);

    if (task)
        send_to(rp_tasks_now, task, entry, ref, data, bytes);
}

void reprise_broadcast(int collection, int entry, uint64_t ref, const void *data, size_t bytes)
{
    const struct rp_collection *c = collection_of(rp_tasks_now, collection);

    for (uint32_t i = 0; c && i < c->count; i++)
        send_to(rp_tasks_now, &rp_tasks_now->tasks[c->first + i], entry, ref, data, bytes);
}

/* Every process has the same message, and keeps it, for tasks that it may have to take over. */
void reprise_start(int collection, int entry, uint64_t ref, const void *data, size_t bytes)
{
    struct rp_tasks *tasks = rp_tasks_now;
    const struct rp_collection *c = collection_of(tasks, collection);

    if (c && (tasks->running || entry < 0 || (uint32_t)entry >= c->entries ||
              bytes > RP_TASK_STATE_MOST))
        rp_tasks_lost(tasks,
                      "reprise_start: it was called by an entry, or collection %s has no entry %d, "
                      "or %zu bytes are too long for a message",
                      c->spec.name, entry, bytes);
    tasks->has_starts = true;
    for (uint32_t i = 0; c && !tasks->is_lost && i < c->count; i++) {
        struct rp_task_message *m = malloc(sizeof *m + bytes);
        RP_BUG_ON(!m);
        *m = (struct rp_task_message){.id = {.spe = RP_TASK_MAIN, .srn = ++tasks->main_srn},
                                      .task = c->first + i,
                                      .stage = tasks->stage,
                                      .entry = (uint32_t)entry,
                                      .ref = ref,
                                      .bytes = bytes};
        if (bytes > 0)
            memcpy(m->data, data, bytes);
        if (tasks->tasks[m->task].owner == tasks->self) {
            struct rp_task_message *ours = rp_message_copy(m);
            ours->epoch = tasks->epoch;
            rp_tasks_deliver_here(tasks, ours);
        }
        if (rp_tasks_ft_is_on(tasks))
            rp_queue_put(&tasks->starts, m);
        else
            free(m);
    }
}

struct reprise_index reprise_self(void)
{
    static const struct reprise_index nobody;

    return rp_tasks_now->running ? rp_task_index(rp_tasks_now, rp_tasks_now->running) : nobody;
}

const void *reprise_task_state(int collection, struct reprise_index index)
{
    struct rp_task *task = task_at(rp_tasks_now, collection, index);

    return task ? task->state : NULL;
}

int reprise_process(void)
{
    return rp_tasks_now->self;
}

int reprise_processes(void)
{
    return rp_tasks_now->processes;
}

bool reprise_is_first(void)
{
    return rp_tasks_now->has_ended ? rp_tasks_now->was_first
                                   : rp_stage_first(rp_tasks_now) == rp_tasks_now->self;
}
