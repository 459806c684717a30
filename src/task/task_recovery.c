/* SPDX-License-Identifier: MIT */
/*
 * Surviving dead processes (section VII). A failure begins a new epoch. All learn of failures in
 * the same order, so each finds the same new owners for the tasks of the dead: the processes behind
 * it, in turn. Then every process reports to every other one: its phase, the copies that it has of
 * tasks that the other is to take over, and the determinants that it holds of them. Until a process
 * has all reports, it runs no task (rp_tasks_step). Then it restores what it took over and goes on;
 * messages to such tasks are sent again. Whatever a restored task sends again has the same id, and
 * is dropped where it was received before.
 *
 * Reports may be of the run behind the checkpoint that we have yet to take, and of a collection
 * that we have yet to make: determinants are kept aside until then.
 *
 * A process may die while checkpoints are made: the phase was over for all if it was for one. If
 * some process has the new version, all take it, since then every copy had arrived; else all go
 * back to running until it is quiet again (RP_PHASE_RERUN), and make them anew.
 *
 * Restart is the classical scheme: no log, no determinants; all tasks go back to the last
 * checkpoint, and what was sent before the failure is dropped.
 */
#include "task/task_recovery.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "task/task_arrivals.h"
#include "task/task_checkpoint.h"
#include "task/task_log.h"
#include "task/task_moves.h"
#include "task/task_owners.h"
#include "task/task_phases.h"
#include "task/task_piggyback.h"
#include "task/task_state.h"

/* A report of a failure that this process has not learnt of. */
struct early_report {
    struct early_report *next;
    int process;
    struct rp_parcel_head head;
    uint8_t data[];
};

struct rp_task_recovery {
    uint32_t *parcels, *expected; /* of the report of each process; expected 0: not known yet */
    struct early_report *early;
    struct rp_determinants determinants; /* that others reported, of tasks that we took over */
    uint32_t phase;                      /* the latest of all processes */
    uint64_t version;                    /* of checkpoints: the same */
    bool has_moved;                      /* tasks have, somewhere, since the last checkpoint */
    bool buddy_changed;
};

void rp_task_recovery_init(struct rp_tasks *tasks)
{
    struct rp_task_recovery *r = tasks->recovery = rp_task_memory(sizeof *r);

    r->parcels = rp_task_memory((size_t)tasks->processes * sizeof *r->parcels);
    r->expected = rp_task_memory((size_t)tasks->processes * sizeof *r->expected);
}

void rp_task_recovery_free(struct rp_tasks *tasks)
{
    struct rp_task_recovery *r = tasks->recovery;

    for (struct early_report *early; (early = r->early); free(early))
        r->early = early->next;
    free(r->determinants.list);
    free(r->parcels);
    free(r->expected);
    free(r);
}

bool rp_task_recovery_awaits(const struct rp_tasks *tasks, int process)
{
    const struct rp_task_recovery *r = tasks->recovery;

    return process != tasks->self && !tasks->dead[process] &&
           (r->parcels[process] == 0 || r->parcels[process] != r->expected[process]);
}

static bool has_dependent(const struct rp_tasks *tasks)
{
    for (int i = 0; i < tasks->collection_count; i++)
        if (tasks->collections[i].has_dependent)
            return true;
    return false;
}

/* A report of what is known of the dead, in as many parcels as it takes; the last has their number.
 */
struct report {
    struct rp_tasks *tasks;
    int to;
    uint32_t parts;
    bool has_ended; /* the copies; determinants follow */
    struct rp_buffer out;
};

static void send_part(struct report *report, bool is_last)
{
    struct rp_tasks *tasks = report->tasks;
    struct rp_parcel_head head = rp_tasks_head(tasks, RP_PARCEL_RECOVERY);

    head.entry = tasks->has_moved;
    head.srn = is_last ? report->parts + 1 : 0;
    head.ref = tasks->version;
    if (!report->has_ended)
        rp_buffer_varint(&report->out, 0);
    report->has_ended = false;
    report->parts++;
    rp_tasks_send_buffer(tasks, report->to, head, &report->out);
}

static void report_copies(struct report *report, uint32_t number)
{
    const struct rp_task *task = &report->tasks->tasks[number];

    rp_task_copy_put(&report->out, number, &task->copy);
    rp_task_copy_put(&report->out, number, &task->attempt);
    if (report->out.length > RP_PARCEL_SPLIT)
        send_part(report, false);
}

static void report_determinants(struct report *report, const struct rp_task *task)
{
    for (size_t k = 0; k < task->held.count; k++) {
        if (!report->has_ended)
            rp_buffer_varint(&report->out, 0);
        report->has_ended = true;
        rp_determinant_put(&report->out, &task->held.list[k]);
        if (report->out.length > RP_PARCEL_SPLIT)
            send_part(report, false);
    }
}

static void send_report(struct rp_tasks *tasks, int to)
{
    struct report report = {.tasks = tasks, .to = to};
    bool is_buddy = rp_owners_next_living(tasks, tasks->self) == to;

    for (uint32_t i = 0; i < tasks->task_count; i++) {
        const struct rp_task *task = &tasks->tasks[i];
        if ((task->adopted && task->owner == to) ||
            (is_buddy && task->owner == tasks->self && tasks->recovery->buddy_changed))
            report_copies(&report, i);
    }
    for (uint32_t i = 0; i < tasks->task_count; i++)
        if (tasks->tasks[i].adopted && tasks->tasks[i].owner == to)
            report_determinants(&report, &tasks->tasks[i]);
    send_part(&report, true);
}

/* At once: what comes from now on is of the new epoch. */
static void go_back(struct rp_tasks *tasks)
{
    rp_task_queue_clear(&tasks->ready);
    for (uint32_t i = 0; i < tasks->task_count; i++)
        if (tasks->tasks[i].owner == tasks->self) {
            rp_task_empty(&tasks->tasks[i]);
            tasks->tasks[i].awaits_state = true;
        }
}

static void find_phase(struct rp_tasks *tasks)
{
    const struct rp_task_recovery *r = tasks->recovery;

    do {
        if (tasks->phase_kind == RP_PHASE_CHECKPOINT && r->version <= tasks->version) {
            tasks->phase++;
            tasks->phase_kind = RP_PHASE_RERUN;
        } else if (tasks->phase < r->phase)
            rp_phase_next(tasks);
    } while (tasks->phase < r->phase ||
             (tasks->phase_kind == RP_PHASE_CHECKPOINT && r->version <= tasks->version));
}

void rp_task_recovery_settle(struct rp_tasks *tasks)
{
    struct rp_task_recovery *r = tasks->recovery;
    size_t kept = 0;

    for (size_t i = 0; i < r->determinants.count; i++) {
        const struct rp_determinant *one = &r->determinants.list[i];
        if (one->task >= tasks->task_count) {
            r->determinants.list[kept++] = *one;
            continue;
        }
        struct rp_task *task = &tasks->tasks[one->task];
        rp_determinants_insert(&task->held, one);
        if (task->owner == tasks->self && task->state && rp_determinants_insert(&task->known, one))
            rp_task_follow_known(task);
    }
    r->determinants.count = kept;
}

static void recover(struct rp_tasks *tasks)
{
    struct rp_task_recovery *r = tasks->recovery;
    bool all_here = true;

    find_phase(tasks);
    if (tasks->dead_since == 0) { /* of the checkpoint that was just taken, too */
        rp_task_arrivals_expect_duplicates(tasks);
        tasks->dead_since = 1;
    }
    rp_task_recovery_settle(tasks);
    tasks->recovering = r->buddy_changed = false;
    rp_moves_reset(tasks);
    for (uint32_t i = 0; i < tasks->task_count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        task->attempt.version = 0;
        if (task->owner == tasks->self && task->awaits_state &&
            !rp_task_checkpoint_restore(tasks, i))
            all_here = false;
        if (task->adopted)
            rp_task_log_send_again(tasks, task);
    }
    rp_phase_begin(tasks, tasks->phase_kind);
    if (!all_here && r->has_moved) /* who has copies may not have known that they are for us */
        rp_moves_request_copies(tasks);
    else if (!all_here)
        rp_moves_fail_if_awaiting(tasks);
}

static void recover_if_all_reported(struct rp_tasks *tasks)
{
    for (int i = 0; i < tasks->processes; i++)
        if (rp_task_recovery_awaits(tasks, i))
            return;
    recover(tasks);
}

static void take_report(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head,
                        const uint8_t *data)
{
    struct rp_task_recovery *r = tasks->recovery;
    struct rp_view view = rp_view_of(data, head->bytes);
    struct rp_determinant one;

    rp_task_copies_take(tasks, &view);
    while (view.at < view.end) {
        RP_BUG_ON(!rp_determinant_get(&view, &one));
        rp_determinants_add(&r->determinants, &one);
    }
    r->parcels[process]++;
    r->has_moved |= head->entry;
    if (head->srn > 0)
        r->expected[process] = head->srn;
    if (head->phase > r->phase)
        r->phase = head->phase;
    if (head->ref > r->version)
        r->version = head->ref;
}

void rp_task_recovery_receive(struct rp_tasks *tasks, int process,
                              const struct rp_parcel_head *head, const uint8_t *data)
{
    if (head->epoch > tasks->epoch) {
        struct early_report *early = rp_task_memory(sizeof *early + head->bytes);
        *early = (struct early_report){tasks->recovery->early, process, *head};
        memcpy(early->data, data, head->bytes);
        tasks->recovery->early = early;
    } else if (head->epoch == tasks->epoch && tasks->recovering) {
        take_report(tasks, process, head, data);
        recover_if_all_reported(tasks);
    }
}

static void take_early_reports(struct rp_tasks *tasks)
{
    for (struct early_report **at = &tasks->recovery->early; *at;) {
        struct early_report *early = *at;
        if (early->head.epoch > tasks->epoch) {
            at = &early->next;
            continue;
        }
        if (early->head.epoch == tasks->epoch && !tasks->dead[early->process])
            take_report(tasks, early->process, &early->head, early->data);
        *at = early->next;
        free(early);
    }
}

static bool can_recover(struct rp_tasks *tasks, int process)
{
    if (!rp_tasks_survives(tasks))
        rp_tasks_fail(tasks,
                      "process %d has died, and there is no fault tolerance: "
                      "REPRISE_TASKS=partial, full or restart",
                      process);
    else if (rp_tasks_has_log(tasks) && tasks->dead_since > tasks->determinant_copies &&
             (tasks->mode == RP_TASKS_FULL || has_dependent(tasks)))
        rp_tasks_fail(tasks,
                      "%d processes have died since the last checkpoint, but determinants are held "
                      "by %d others only (REPRISE_TASKS_COPIES): the order of messages may be lost",
                      tasks->dead_since, tasks->determinant_copies);
    return !tasks->has_failed;
}

void rp_task_recovery_begin(struct rp_tasks *tasks, int process)
{
    struct rp_task_recovery *r = tasks->recovery;
    bool buddy = rp_owners_next_living(tasks, tasks->self) == process;

    if (tasks->dead[process])
        return;
    rp_task_arrivals_expect_duplicates(tasks);
    tasks->dead[process] = true;
    tasks->deaths[tasks->dead_count++] = process;
    tasks->dead_since++;
    if (!can_recover(tasks, process))
        return;
    tasks->epoch++;
    r->buddy_changed |= buddy;
    tasks->recovering = true;
    r->phase = tasks->phase;
    r->version = tasks->version;
    r->has_moved = tasks->has_moved;
    rp_task_piggyback_died(tasks, process);
    r->determinants.count = 0;
    memset(r->parcels, 0, (size_t)tasks->processes * sizeof *r->parcels);
    memset(r->expected, 0, (size_t)tasks->processes * sizeof *r->expected);
    rp_owners_died(tasks);
    if (tasks->mode == RP_TASKS_RESTART)
        go_back(tasks);
    rp_phase_reset(tasks);
    for (int i = 0; i < tasks->processes; i++)
        if (i != tasks->self && !tasks->dead[i])
            send_report(tasks, i);
    take_early_reports(tasks);
    recover_if_all_reported(tasks);
}
