/* SPDX-License-Identifier: MIT */
/*
 * What regions sent, and the last states of tasks, become digests: what a replay is compared with
 * the record by. Of a region it is what was sent, not the state of the task, since other regions
 * may be open at the same time, and be at different points. Regions of one message have no order
 * among themselves, so that they have one digest for all, as region 0.
 *
 * The determinants that were made are counted by the ordering algebra as well (section IV.B, lemma
 * IV.3).
 */
#include "task/task_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/diagnostics.h"
#include "match/algebra.h"
#include "task/task_file.h"
#include "task/task_order.h"
#include "task/task_state.h"
#include "task/task_trace.h"

static void say_difference(struct rp_tasks *tasks, const struct rp_task *task,
                           const struct rp_task_digest *found)
{
    uint8_t *reported =
        &tasks->difference_reported[task->collection * RP_TASK_ENTRIES + found->entry];
    const char *entry = rp_task_entry(tasks, task, found->entry)->name;
    char name[RP_TASK_NAME];

    tasks->counts[RP_COUNT_DIFFERENCES]++;
    rp_task_name(tasks, task, name);
    const char *why =
        tasks->trace.directory
            ? ""
            : ": its messages do not commute, or not with those of another entry"; /* who traces
                                                                                      finds out */
    if (!*reported && found->ordinal > 0)
        rp_error("tasks: entry '%s' of %s: region %u sent something else than in the record%s",
                 entry, name, found->ordinal, why);
    else if (!*reported)
        rp_error("tasks: entry '%s' of %s sent something else than in the record%s", entry, name,
                 why);
    *reported = 1;
}

static void note_digest(struct rp_tasks *tasks, struct rp_task *task,
                        const struct rp_task_digest *found)
{
    rp_task_trace_digest(tasks, task, found);
    if (tasks->mode == RP_TASKS_RECORD) {
        rp_task_file_add_digest(task, found);
        rp_task_file_put_digest(tasks, rp_task_number(tasks, task), found);
    }
    for (size_t i = task->digest_first; tasks->mode == RP_TASKS_REPLAY && i < task->digest_count;
         i++) { /* they come in about the same order */
        struct rp_task_digest *recorded = &task->digests[i];
        if (recorded->was_found || recorded->entry != found->entry ||
            recorded->ordinal != found->ordinal)
            continue;
        if (recorded->digest != found->digest)
            say_difference(tasks, task, found);
        recorded->was_found = true;
        while (task->digest_first < task->digest_count &&
               task->digests[task->digest_first].was_found)
            task->digest_first++;
        return;
    }
}

void rp_task_check_region(struct rp_tasks *tasks, struct rp_task *task, uint32_t entry)
{
    struct rp_task_digest found = {entry, task->regions[entry].ordinal, task->regions[entry].sends,
                                   false};

    if (task->regions[entry].size > 1)
        note_digest(tasks, task, &found);
}

static void note_singles(struct rp_tasks *tasks, struct rp_task *task)
{
    for (uint32_t i = 0; i < rp_task_collection(tasks, task)->entries; i++) {
        struct rp_task_digest found = {i, 0, task->regions[i].sends, false};
        if (task->regions[i].size == 1 &&
            rp_task_entry(tasks, task, i)->order == REPRISE_COMMUTATIVE)
            note_digest(tasks, task, &found);
    }
}

/* Determinants that n order-dependent events among k others need: lemma IV.3. From a checkpoint,
 * the first of them depends on that. */
static uint64_t interleaved(uint64_t dependent, uint64_t other, bool from_checkpoint)
{
    struct rp_algebra *sets = rp_task_memory((dependent + 1) * sizeof *sets), all;
    struct rp_problem why;

    for (uint64_t i = 0; i < dependent; i++)
        RP_BUG_ON(rp_algebra_ordered(1, i == 0 && other == 0 && from_checkpoint, &sets[i], &why) !=
                  RP_OK);
    RP_BUG_ON(rp_algebra_deterministic(other, 0, &sets[dependent], &why) != RP_OK ||
              rp_algebra_interleave(sets, dependent + 1, &all, &why) != RP_OK);
    free(sets);
    return rp_algebra_determinants(&all);
}

/* Of counted ones, each complete region is U(n, 0), and the messages so far of the next are U(n,
 * 1); the program itself puts one after the other, as loop() of the algebra does. */
static uint64_t counted_regions(const struct rp_task *task)
{
    return task->dependent - (task->regions[0].ordinal - (task->regions[0].left > 0));
}

static uint64_t by_algebra(const struct rp_tasks *tasks, const struct rp_task *task)
{
    if (tasks->mode == RP_TASKS_RESTART)
        return 0;
    return rp_task_order_is_counted(tasks, task)
               ? counted_regions(task)
               : interleaved(task->dependent, task->other, rp_tasks_survives(tasks));
}

/* Of a task whose state differs: messages of these entries may have arrived in another order than
 * in the record. */
static void put_unordered(const struct rp_tasks *tasks, const struct rp_task *task,
                          struct rp_buffer *out)
{
    const struct rp_collection *c = rp_task_collection(tasks, task);
    struct rp_buffer names = {0};
    int count = 0;

    for (uint32_t i = 0; i < c->entries; i++) {
        const struct rp_task_region *region = &task->regions[i];
        if (c->spec.entries[i].order == REPRISE_COMMUTATIVE &&
            (region->ordinal > 1 || (region->ordinal == 1 && region->size > 1)))
            rp_buffer_printf(&names, "%s'%s'", count++ ? ", " : "", c->spec.entries[i].name);
    }
    rp_buffer_byte(&names, 0);
    if (count > 0 && !names.failed)
        rp_buffer_printf(out, "; messages of its %s %s came in any order: do they commute?",
                         count == 1 ? "entry" : "entries", (char *)names.bytes);
    rp_buffer_byte(out, 0);
    rp_buffer_free(&names);
}

static void say_other_state(const struct rp_tasks *tasks, const struct rp_task *task)
{
    struct rp_buffer entries = {0};
    char name[RP_TASK_NAME];

    rp_task_name(tasks, task, name);
    if (tasks->trace.directory)
        rp_buffer_byte(&entries, 0);
    else
        put_unordered(tasks, task, &entries);
    rp_error("tasks: %s: its last state is not the recorded one%s", name,
             entries.failed ? "" : (char *)entries.bytes);
    rp_buffer_free(&entries);
}

static void check_task(struct rp_tasks *tasks, struct rp_task *task)
{
    char name[RP_TASK_NAME];

    tasks->counts[RP_COUNT_ALGEBRA] += by_algebra(tasks, task);
    note_singles(tasks, task);
    uint64_t digest = rp_task_hash(task->state, rp_task_collection(tasks, task)->spec.state_bytes);
    tasks->counts[RP_COUNT_DIGEST] += digest * (rp_task_number(tasks, task) * UINT64_C(2) + 1);
    if (tasks->mode == RP_TASKS_REPLAY && task->has_end && task->end_digest != digest &&
        tasks->counts[RP_COUNT_DIFFERENCES]++ == 0)
        say_other_state(tasks, task);
    task->end_digest = digest;
    if (tasks->mode != RP_TASKS_REPLAY ||
        (task->followed == task->known.count && !task->first_free))
        return;
    rp_task_name(tasks, task, name);
    rp_error("tasks: %s: %zu of %zu recorded messages did not come%s", name,
             task->known.count - task->followed, task->known.count,
             task->waiting.count ? ", others wait in their place" : "");
    tasks->counts[RP_COUNT_DIFFERENCES]++;
}

/* Nobody will take them. It may be meant so. One task stands for all. */
static bool say_waiting(const struct rp_tasks *tasks, const struct rp_task *task)
{
    const struct rp_task_message *m = task->waiting.first;
    char name[RP_TASK_NAME];

    if (!m || tasks->mode == RP_TASKS_REPLAY)
        return false;
    rp_task_name(tasks, task, name);
    rp_note(
        "tasks: %s: %zu messages were never taken; the first is for entry '%s', with ref %" PRIu64,
        name, task->waiting.count, rp_task_entry(tasks, task, m->entry)->name, m->ref);
    return true;
}

/* A region that is open at the end: fewer messages arrived than `count` said. Its `finish` did not
 * run. */
static bool is_incomplete(const struct rp_tasks *tasks, const struct rp_task *task, uint32_t *entry)
{
    for (*entry = 0; *entry < rp_task_collection(tasks, task)->entries; ++*entry)
        if (task->regions[*entry].left > 0)
            return true;
    return false;
}

/* One task stands for all. */
static void say_incomplete(const struct rp_tasks *tasks, const struct rp_task *task, uint32_t entry,
                           uint32_t others)
{
    const struct rp_task_region *region = &task->regions[entry];
    const struct reprise_entry *e = rp_task_entry(tasks, task, entry);
    char name[RP_TASK_NAME], more[60] = "";

    rp_task_name(tasks, task, name);
    if (others > 0)
        snprintf(more, sizeof more, "; the same of %u other tasks of this process", others);
    rp_note("tasks: %s: region %u of entry '%s' is incomplete at the end: %" PRIu64 " of %" PRIu64
            " messages came%s: does 'count' say what is sent?%s",
            name, region->ordinal, e->name, region->size - region->left, region->size,
            e->finish ? ", and 'finish' did not run" : "", more);
}

static void check_regions(const struct rp_tasks *tasks)
{
    const struct rp_task *first = NULL;
    uint32_t entry, first_entry = 0, count = 0;

    for (uint32_t i = 0; i < tasks->task_count; i++) {
        const struct rp_task *task = &tasks->tasks[i];
        if (task->owner != tasks->self || !task->state || !is_incomplete(tasks, task, &entry))
            continue;
        if (count++ == 0) {
            first = task;
            first_entry = entry;
        }
    }
    if (first)
        say_incomplete(tasks, first, first_entry, count - 1);
}

void rp_tasks_check(struct rp_tasks *tasks)
{
    bool said = false;

    check_regions(tasks);

    for (uint32_t i = 0; i < tasks->task_count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        if (task->owner != tasks->self || !task->state)
            continue;
        check_task(tasks, task);
        said = said || say_waiting(tasks, task);
    }
}
