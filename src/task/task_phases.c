/* SPDX-License-Identifier: MIT */
/*
 * A phase ends when nobody has anything to do and no message is under way. The first living process
 * asks all others in waves; each answers, once it is idle, how many messages it has sent and
 * received. If in two waves one after the other all of it is the same, and as many were received as
 * sent, it was so at one moment between them (Mattern's four counters), and the first process
 * announces the end of the phase.
 *
 * Phases have numbers. No process can be more than one phase ahead of another, since each phase
 * needs an answer of all.
 */
#include "task/task_phases.h"

#include <stdlib.h>
#include <string.h>

#include "task/task_checkpoint.h"

struct wave_counts {
    uint64_t sent, received, counts[RP_COUNTS];
};

struct rp_task_phases {
    void (*on_begin)(struct rp_tasks *tasks);
    bool wave_open; /* we asked, and not all have answered */
    uint32_t wave;  /* number */
    int answers;
    struct wave_counts sum;
    bool has_last; /* sent and received of the wave before */
    uint64_t last_sent, last_received;
    bool is_asked; /* to be answered when we are where the asker is: */
    uint32_t asked_phase, asked_epoch;
};

void rp_phases_init(struct rp_tasks *tasks, void (*on_begin)(struct rp_tasks *tasks))
{
    tasks->phases = rp_task_memory(sizeof *tasks->phases);
    tasks->phases->on_begin = on_begin;
}

void rp_phases_free(struct rp_tasks *tasks)
{
    free(tasks->phases);
}

int rp_phase_answers(const struct rp_tasks *tasks)
{
    return tasks->phases->answers;
}

static void send_all(struct rp_tasks *tasks, const struct rp_parcel_head *head)
{
    for (int i = 0; i < tasks->processes; i++)
        if (i != tasks->self && !tasks->dead[i])
            rp_tasks_send_control(tasks, i, head, NULL, 0);
}

void rp_phase_reset(struct rp_tasks *tasks)
{
    tasks->phases->wave_open = tasks->phases->has_last = false;
}

void rp_phase_begin(struct rp_tasks *tasks, enum rp_task_phase kind)
{
    tasks->phase_kind = kind;
    if (kind == RP_PHASE_RUN)
        tasks->has_starts = false;
    rp_phase_reset(tasks);
    tasks->phases->on_begin(tasks);
}

bool rp_phase_is_over(const struct rp_tasks *tasks)
{
    return (tasks->phase_kind == RP_PHASE_OUTSIDE && tasks->missing == 0) || tasks->has_failed;
}

void rp_phase_next(struct rp_tasks *tasks)
{
    enum rp_task_phase kind = tasks->phase_kind;

    tasks->phase++;
    if ((kind == RP_PHASE_RUN || kind == RP_PHASE_RERUN || kind == RP_PHASE_MOVE) &&
        rp_tasks_survives(tasks)) {
        rp_phase_begin(tasks, RP_PHASE_CHECKPOINT);
        if (!tasks->recovering)
            rp_task_checkpoint_make(tasks);
        return;
    }
    if (kind == RP_PHASE_CHECKPOINT)
        rp_task_checkpoint_commit(tasks);
    if (kind == RP_PHASE_END)
        memcpy(tasks->total, tasks->phases->sum.counts, sizeof tasks->total);
    rp_phase_begin(tasks, RP_PHASE_OUTSIDE);
}

static struct wave_counts own_counts(const struct rp_tasks *tasks)
{
    struct wave_counts own = {0};

    for (int i = 0; i < tasks->processes; i++)
        if (!tasks->dead[i]) {
            own.sent += tasks->sent[i];
            own.received += tasks->received[i];
        }
    memcpy(own.counts, tasks->counts, sizeof own.counts);
    return own;
}

static void end_wave(struct rp_tasks *tasks)
{
    struct rp_task_phases *p = tasks->phases;
    struct rp_parcel_head head = rp_tasks_head(tasks, RP_PARCEL_PHASE_ENDS);
    bool is_quiet = p->has_last && p->sum.sent == p->sum.received && p->last_sent == p->sum.sent &&
                    p->last_received == p->sum.received;

    p->wave_open = false;
    p->last_sent = p->sum.sent;
    p->last_received = p->sum.received;
    p->has_last = true;
    if (!is_quiet)
        return;
    head.ref = p->sum.counts[RP_COUNT_DIFFERENCES];
    send_all(tasks, &head);
    rp_phase_next(tasks);
}

static void add_counts(struct rp_tasks *tasks, const struct wave_counts *one)
{
    struct rp_task_phases *p = tasks->phases;

    p->sum.sent += one->sent;
    p->sum.received += one->received;
    for (int i = 0; i < RP_COUNTS; i++)
        p->sum.counts[i] += one->counts[i];
    if (++p->answers == tasks->processes - tasks->dead_count)
        end_wave(tasks);
}

static void begin_wave(struct rp_tasks *tasks)
{
    struct rp_task_phases *p = tasks->phases;
    struct rp_parcel_head head = rp_tasks_head(tasks, RP_PARCEL_WAVE);
    struct wave_counts own = own_counts(tasks);

    head.ref = ++p->wave;
    p->wave_open = true;
    p->answers = 0;
    p->sum = (struct wave_counts){0};
    send_all(tasks, &head);
    add_counts(tasks, &own);
}

void rp_phase_idle(struct rp_tasks *tasks)
{
    struct rp_task_phases *p = tasks->phases;

    if (tasks->phase_kind == RP_PHASE_OUTSIDE)
        return;
    if (rp_tasks_first_living(tasks) == tasks->self) {
        if (!p->wave_open)
            begin_wave(tasks);
    } else if (p->is_asked && p->asked_phase == tasks->phase && p->asked_epoch == tasks->epoch) {
        struct rp_parcel_head head = rp_tasks_head(tasks, RP_PARCEL_WAVE_COUNTS);
        struct wave_counts own = own_counts(tasks);
        head.ref = p->wave;
        p->is_asked = false;
        rp_tasks_send_control(tasks, rp_tasks_first_living(tasks), &head, &own, sizeof own);
    }
}

void rp_phase_receive(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                      const uint8_t *data)
{
    struct rp_task_phases *p = tasks->phases;
    struct wave_counts counts;

    if (head->kind == RP_PARCEL_WAVE && head->epoch >= tasks->epoch &&
        head->phase >= tasks->phase) {
        p->is_asked = true;
        p->asked_phase = head->phase;
        p->asked_epoch = head->epoch;
        p->wave = (uint32_t)head->ref;
    } else if (head->kind == RP_PARCEL_WAVE_COUNTS && p->wave_open && head->ref == p->wave &&
               head->epoch == tasks->epoch && head->phase == tasks->phase) {
        memcpy(&counts, data, sizeof counts);
        add_counts(tasks, &counts);
    } else if (head->kind == RP_PARCEL_PHASE_ENDS && head->epoch == tasks->epoch &&
               head->phase == tasks->phase && !tasks->recovering) {
        rp_phase_next(tasks);
        tasks->total[RP_COUNT_DIFFERENCES] = head->ref; /* all end with the same status */
    }
}
