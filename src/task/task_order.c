/* SPDX-License-Identifier: MIT */
/*
 * The place of an event at its task is the number of events before it: ordered and order-dependent
 * messages are one each, a commutative region is its begin and its end (section IV.D). A
 * determinant says which message came at a place. Where one is known for the present place, only
 * its message may come there; messages inside an open region do not move the place, and pass.
 *
 * Among n order-dependent messages and one deterministic chain of others, n need a determinant
 * (lemma IV.3: n sets of one, and the chain); without any others, n - 1. So the very first event of
 * a task, if it is order-dependent, gets its determinant only when another kind of event comes.
 * With fault tolerance it always does: whoever sent it may live, and a restart that begins with
 * another would contradict it. That is one dependency on the starting point.
 *
 * If it is known how many come, and nothing else comes, the last needs none, with fault tolerance
 * too: all others have theirs, so that it is the one that is left. A place without a determinant
 * before one that has it is such a last one.
 *
 * FullDetFT gives every message a determinant, whatever it is declared to be.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "match/algebra.h"
#include "task/task.h"

static enum reprise_order order_of(const struct rp_tasks *tasks, const struct rp_task *task,
                                   uint32_t entry)
{
    return tasks->mode == RP_TASKS_FULL
               ? REPRISE_ORDER_DEPENDENT
               : tasks->collections[task->collection].spec.entries[entry].order;
}

static bool is_counted(const struct rp_tasks *tasks, const struct rp_task *task)
{
    return tasks->collections[task->collection].is_counted && tasks->mode != RP_TASKS_FULL;
}

/* Whether its execution moves the place. */
static bool moves(const struct rp_tasks *tasks, const struct rp_task *task,
                  const struct rp_task_message *m)
{
    return order_of(tasks, task, m->entry) != REPRISE_COMMUTATIVE ||
           task->regions[m->entry].left <= 1;
}

static bool is_known(const struct rp_task *task, const struct rp_message_id *id)
{
    for (size_t i = task->followed; i < task->known.count; i++)
        if (rp_message_id_same(&task->known.list[i].id, id))
            return true;
    return false;
}

bool rp_task_order_may_run(const struct rp_tasks *tasks, const struct rp_task *task,
                           const struct rp_task_message *m)
{
    if (task->followed == task->known.count && !task->first_free)
        return true; /* beyond all that is known */
    if (!moves(tasks, task, m))
        return true;
    bool is_dependent = order_of(tasks, task, m->entry) == REPRISE_ORDER_DEPENDENT;
    if (task->first_free && task->place == 0)
        return is_dependent && !is_known(task, &m->id);
    const struct rp_determinant *next =
        task->followed < task->known.count ? &task->known.list[task->followed] : NULL;
    if (next && next->place == task->place)
        return rp_message_id_same(&next->id, &m->id);
    if (is_counted(tasks, task))
        return !is_known(task, &m->id);
    return !is_dependent || !next;
}

void rp_task_order_follow(struct rp_task *task)
{
    if (task->place > 0)
        task->first_free = false;
    for (task->followed = 0;
         task->followed < task->known.count && task->known.list[task->followed].place < task->place;
         task->followed++)
        ;
}

static void make_determinant(struct rp_tasks *tasks, struct rp_task *task, uint64_t place,
                             const struct rp_message_id *id)
{
    struct rp_determinant one = {rp_task_number(tasks, task), place, *id};

    tasks->counts[RP_COUNT_DETERMINANTS]++;
    if (rp_tasks_ft_is_on(tasks)) {
        rp_determinants_made(tasks, &one);
        return;
    }
    rp_determinants_add(&task->made, &one);
    rp_task_file_determinant(tasks, &one);
}

/* The first event was order-dependent, and now one of another kind comes: it needs its determinant
 * after all. */
static void note_other(struct rp_tasks *tasks, struct rp_task *task, uint64_t events)
{
    if (task->has_first) {
        RP_BUG_ON(task->made.count == 0);
        task->has_first = false;
        tasks->counts[RP_COUNT_DETERMINANTS]++;
    }
    task->other += events;
    task->place += events;
}

/* The first of all is kept in the list from the start, so that places stay in order, but does not
 * count. */
static void note_dependent(struct rp_tasks *tasks, struct rp_task *task,
                           const struct rp_task_message *m)
{
    bool counted = is_counted(tasks, task), is_last = counted && task->regions[m->entry].left == 1;
    bool follows =
        task->followed < task->known.count && task->known.list[task->followed].place == task->place;

    if (follows)
        task->followed++;
    if (tasks->mode == RP_TASKS_RECORD && task->place == 0 && !counted) {
        struct rp_determinant one = {m->task, 0, m->id};
        rp_determinants_add(&task->made, &one);
        rp_task_file_determinant(tasks, &one);
        task->has_first = true;
    } else if (!is_last && (tasks->mode == RP_TASKS_RECORD || rp_tasks_ft_logs(tasks)))
        make_determinant(tasks, task, task->place, &m->id);
    if (task->place == 0)
        task->first_free = false;
    task->dependent++;
    task->place++;
}

void rp_task_order_note(struct rp_tasks *tasks, struct rp_task *task,
                        const struct rp_task_message *m)
{
    enum reprise_order order = order_of(tasks, task, m->entry);

    if (order == REPRISE_ORDER_DEPENDENT)
        note_dependent(tasks, task, m);
    else if (order == REPRISE_ORDERED)
        note_other(tasks, task, 1);
    else {
        struct rp_task_region *region = &task->regions[m->entry];
        bool is_first = region->left == region->size;
        if (is_first)
            tasks->counts[RP_COUNT_REGIONS]++;
        if (is_first || region->left == 1)
            note_other(tasks, task, is_first + (region->left == 1));
    }
}

/*
 * Digests of what regions sent: what a shuffled replay is compared by. The state of the task is no
 * measure, since other regions may be open at the same time, and have come farther or less far.
 * Regions of one message have no order among themselves, so that they have one digest for all, as
 * region 0.
 */
void rp_task_add_digest(struct rp_task *task, const struct rp_task_digest *found)
{
    if (task->digest_count == task->digest_room) {
        task->digest_room = task->digest_room ? 2 * task->digest_room : 16;
        task->digests = realloc(task->digests, task->digest_room * sizeof *task->digests);
        RP_BUG_ON(!task->digests);
    }
    task->digests[task->digest_count++] = *found;
}

static void say_difference(struct rp_tasks *tasks, const struct rp_task *task,
                           const struct rp_task_digest *found)
{
    uint8_t *reported = &tasks->reported[task->collection * RP_TASK_ENTRIES + found->entry];
    const char *entry = tasks->collections[task->collection].spec.entries[found->entry].name;
    char name[160];

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
        rp_task_add_digest(task, found);
        rp_task_file_digest(tasks, rp_task_number(tasks, task), found);
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

void rp_task_order_finished(struct rp_tasks *tasks, struct rp_task *task, uint32_t entry)
{
    struct rp_task_digest found = {entry, task->regions[entry].ordinal, task->regions[entry].sends,
                                   false};

    if (task->regions[entry].size > 1)
        note_digest(tasks, task, &found);
}

static void note_singles(struct rp_tasks *tasks, struct rp_task *task)
{
    for (uint32_t i = 0; i < tasks->collections[task->collection].entries; i++) {
        struct rp_task_digest found = {i, 0, task->regions[i].sends, false};
        if (task->regions[i].size == 1 &&
            tasks->collections[task->collection].spec.entries[i].order == REPRISE_COMMUTATIVE)
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

/* Of counted ones, each region that is complete is U(n, 0), and what has come of the next U(n, 1);
 * the program itself puts one after the other, as loop() of the algebra does. */
static uint64_t counted_regions(const struct rp_task *task)
{
    return task->dependent - (task->regions[0].ordinal - (task->regions[0].left > 0));
}

static uint64_t by_algebra(const struct rp_tasks *tasks, const struct rp_task *task)
{
    if (tasks->mode == RP_TASKS_RESTART)
        return 0;
    return is_counted(tasks, task)
               ? counted_regions(task)
               : interleaved(task->dependent, task->other, rp_tasks_ft_is_on(tasks));
}

/* Of a task whose state differs: messages of these entries may have come in another order than in
 * the record. */
static void put_unordered(const struct rp_tasks *tasks, const struct rp_task *task,
                          struct rp_buffer *out)
{
    const struct rp_collection *c = &tasks->collections[task->collection];
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
    char name[160];

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
    char name[160];

    tasks->counts[RP_COUNT_ALGEBRA] += by_algebra(tasks, task);
    note_singles(tasks, task);
    uint64_t digest =
        rp_task_hash(task->state, tasks->collections[task->collection].spec.state_bytes);
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
    char name[160];

    if (!m || tasks->mode == RP_TASKS_REPLAY)
        return false;
    rp_task_name(tasks, task, name);
    rp_note(
        "tasks: %s: %zu messages were never taken; the first is for entry '%s', with ref %" PRIu64,
        name, task->waiting.count, tasks->collections[task->collection].spec.entries[m->entry].name,
        m->ref);
    return true;
}

/* A region that is open at the end: fewer messages came than `count` said. Its `finish` did not
 * run. */
static bool is_incomplete(const struct rp_tasks *tasks, const struct rp_task *task, uint32_t *entry)
{
    for (*entry = 0; *entry < tasks->collections[task->collection].entries; ++*entry)
        if (task->regions[*entry].left > 0)
            return true;
    return false;
}

/* One task stands for all. */
static void say_incomplete(const struct rp_tasks *tasks, const struct rp_task *task, uint32_t entry,
                           uint32_t others)
{
    const struct rp_task_region *region = &task->regions[entry];
    const struct reprise_entry *e = &tasks->collections[task->collection].spec.entries[entry];
    char name[160], more[60] = "";

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

void rp_task_order_check(struct rp_tasks *tasks)
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
