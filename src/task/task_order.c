/* SPDX-License-Identifier: MIT */
/*
 * The place of an event at its task is the number of events before it: ordered and order-dependent
 * messages are one each, a commutative region is its begin and its end (section IV.D). A
 * determinant says which message was taken at a place. Where one is known for the present place,
 * only its message may be taken there; messages inside an open region do not move the place, and
 * pass.
 *
 * Among n order-dependent messages and one deterministic chain of others, n need a determinant
 * (lemma IV.3: n sets of one, and the chain); without any others, n - 1. So the very first event of
 * a task, if it is order-dependent, gets its determinant only when another kind of event comes.
 * With fault tolerance it always does: whoever sent it may live, and a restart that begins with
 * another would contradict it. That is one dependency on the starting point.
 *
 * If it is known how many arrive, and nothing else arrives, the last needs none, with fault
 * tolerance too: all others have theirs, so that it is the one that is left. A place without a
 * determinant before one that has it is such a last one.
 *
 * FullDetFT makes a determinant for every message, whatever it is declared to be.
 */
#include "task/task_order.h"

#include "base/diagnostics.h"
#include "task/task_file.h"
#include "task/task_piggyback.h"
#include "task/task_state.h"

static enum reprise_order declared_order(const struct rp_tasks *tasks, const struct rp_task *task,
                                         uint32_t entry)
{
    return tasks->mode == RP_TASKS_FULL ? REPRISE_ORDER_DEPENDENT
                                        : rp_task_entry(tasks, task, entry)->order;
}

bool rp_task_order_is_counted(const struct rp_tasks *tasks, const struct rp_task *task)
{
    return rp_task_collection(tasks, task)->is_counted && tasks->mode != RP_TASKS_FULL;
}

/* Whether its execution moves the place. */
static bool moves(const struct rp_tasks *tasks, const struct rp_task *task,
                  const struct rp_task_message *m)
{
    return declared_order(tasks, task, m->entry) != REPRISE_COMMUTATIVE ||
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
    bool is_dependent = declared_order(tasks, task, m->entry) == REPRISE_ORDER_DEPENDENT;
    if (task->first_free && task->place == 0)
        return is_dependent && !is_known(task, &m->id);
    const struct rp_determinant *next =
        task->followed < task->known.count ? &task->known.list[task->followed] : NULL;
    if (next && next->place == task->place)
        return rp_message_id_same(&next->id, &m->id);
    if (rp_task_order_is_counted(tasks, task))
        return !is_known(task, &m->id);
    return !is_dependent || !next;
}

static void make_determinant(struct rp_tasks *tasks, struct rp_task *task, uint64_t place,
                             const struct rp_message_id *id)
{
    struct rp_determinant one = {rp_task_number(tasks, task), place, *id};

    tasks->counts[RP_COUNT_DETERMINANTS]++;
    if (rp_tasks_survives(tasks)) {
        rp_task_piggyback_made(tasks, &one);
        return;
    }
    rp_determinants_add(&task->made, &one);
    rp_task_file_determinant(tasks, &one);
}

/* The first event was order-dependent, and now one of another kind comes: it needs its determinant
 * after all. */
static void note_other(struct rp_tasks *tasks, struct rp_task *task, uint64_t events)
{
    if (task->first_deferred) {
        RP_BUG_ON(task->made.count == 0);
        task->first_deferred = false;
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
    bool counted = rp_task_order_is_counted(tasks, task),
         is_last = counted && task->regions[m->entry].left == 1;
    bool follows =
        task->followed < task->known.count && task->known.list[task->followed].place == task->place;

    if (follows)
        task->followed++;
    if (tasks->mode == RP_TASKS_RECORD && task->place == 0 && !counted) {
        struct rp_determinant one = {m->task, 0, m->id};
        rp_determinants_add(&task->made, &one);
        rp_task_file_determinant(tasks, &one);
        task->first_deferred = true;
    } else if (!is_last && (tasks->mode == RP_TASKS_RECORD || rp_tasks_has_log(tasks)))
        make_determinant(tasks, task, task->place, &m->id);
    if (task->place == 0)
        task->first_free = false;
    task->dependent++;
    task->place++;
}

void rp_task_order_note(struct rp_tasks *tasks, struct rp_task *task,
                        const struct rp_task_message *m)
{
    enum reprise_order order = declared_order(tasks, task, m->entry);

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
