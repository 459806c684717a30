/* SPDX-License-Identifier: MIT */
/*
 * Included after unit.h. The task runtime of several processes in one, without MPI: parcels arrive
 * in any order, processes take steps in any order, die at any step, and learn of deaths late, in
 * the same order. A program is a function that says what a process does next outside entries.
 */
#ifndef TASK_MODEL_H
#define TASK_MODEL_H

#include "task/task_phases.h"
#include "task/task_recovery.h"
#include "task/tasks.h"

enum { MODEL_PROCESSES = 16, MODEL_KILLS = 8 };

struct model_parcel {
    struct rp_parcel *parcel;
    int from;
};

struct model_process {
    struct rp_tasks tasks;
    struct model_parcel *inbox;
    size_t count, room;
    int phase; /* of the program */
    bool is_dead, is_done;
    int known; /* failures that it has learnt of */
};

static struct {
    struct model_process process[MODEL_PROCESSES];
    int processes;
    uint64_t random, steps, limit; /* 0: the usual */
    int failures[MODEL_KILLS], failure_count;
    bool in_order;                  /* of one process to another */
    uint64_t move_first, move_last; /* steps in which somebody moved tasks */
    uint64_t second_run;            /* the first step after somebody's first checkpoint */
    int slow;                       /* the number + 1 of a process that takes few steps; 0: none */
    char lost[700];
} model;

static void model_send(void *data, int to, struct rp_parcel *parcel)
{
    struct model_process *p = &model.process[to];

    if (p->is_dead) {
        rp_parcel_drop(parcel);
        return;
    }
    if (p->count == p->room) {
        p->room = p->room ? 2 * p->room : 64;
        p->inbox = realloc(p->inbox, p->room * sizeof *p->inbox);
    }
    /* A copy, as a network makes it: what is received must not be what is logged. */
    struct rp_parcel *copy = rp_parcel_new(parcel->length);
    memcpy(copy->bytes, parcel->bytes, parcel->length);
    rp_parcel_drop(parcel);
    p->inbox[p->count++] =
        (struct model_parcel){copy, (int)((struct model_process *)data - model.process)};
}

static struct rp_parcel *model_receive(void *data, int *from)
{
    struct model_process *p = data;

    if (p->count == 0 || unit_below(&model.random, 3) == 0)
        return NULL;
    size_t which = unit_below(&model.random, p->count), first = 0;
    while (p->inbox[first].from != p->inbox[which].from)
        first++;
    if (model.in_order)
        which = first;
    struct model_parcel taken = p->inbox[which];
    memmove(&p->inbox[which], &p->inbox[which + 1], (--p->count - which) * sizeof *p->inbox);
    *from = taken.from;
    return taken.parcel;
}

static void model_fail(void *data, const char *why)
{
    (void)data;
    snprintf(model.lost, sizeof model.lost, "%s", why);
}

static void model_kill(int process)
{
    struct model_process *dead = &model.process[process];

    if (dead->is_dead || model.failure_count == MODEL_KILLS)
        return;
    dead->is_dead = true;
    model.failures[model.failure_count++] = process;
    for (size_t i = 0; i < dead->count; i++)
        rp_parcel_drop(dead->inbox[i].parcel);
    dead->count = 0;
    for (int p = 0; p < model.processes;
         p++) { /* of what it sent, some is lost: in order, the end of it */
        bool all = false;
        for (size_t i = 0; i < model.process[p].count;) {
            struct model_parcel *parcel = &model.process[p].inbox[i];
            bool lost = parcel->from == process && (all || unit_below(&model.random, 2) == 0);
            all |= lost && model.in_order;
            if (lost) {
                rp_parcel_drop(parcel->parcel);
                memmove(parcel, parcel + 1, (--model.process[p].count - i) * sizeof *parcel);
            } else
                i++;
        }
    }
}

static void model_begin(enum rp_task_mode mode, int processes, uint64_t seed, void (*declare)(void))
{
    memset(&model, 0, sizeof model);
    model.processes = processes;
    model.in_order = seed % 2;
    model.random = seed;
    for (int i = 0; i < processes; i++) {
        struct rp_transport transport = {model_send, model_receive, model_fail, model.in_order,
                                         &model.process[i]};
        rp_tasks_init(&model.process[i].tasks, mode, i, processes, &transport);
        model.process[i].tasks.random = seed * 31 + (uint64_t)i + 1;
        rp_tasks_now = &model.process[i].tasks;
        declare();
    }
}

/* One step of a process that is not dead. Also at the end of its program it hears of failures,
 * until all others are there. */
static void model_step(struct model_process *p, bool (*next)(int phase))
{
    rp_tasks_now = &p->tasks;
    if (p->known < model.failure_count && unit_below(&model.random, 6) == 0)
        rp_task_recovery_begin(&p->tasks, model.failures[p->known++]);
    if (p->tasks.has_failed)
        return;
    if (!rp_phase_is_over(&p->tasks) || p->is_done || p->tasks.recovering)
        rp_tasks_step(&p->tasks);
    else
        p->is_done = !next(p->phase++);
}

/* Runs to the end of all, with kills at these steps. False: somebody said that it cannot go on, or
 * it does not end. */
static bool model_run(bool (*next)(int phase), const uint64_t *kill_at, const int *kill_whom,
                      int kills)
{
    enum { LIMIT = 3000000 };

    for (model.steps = 0; model.steps < (model.limit ? model.limit : LIMIT); model.steps++) {
        int left = 0;
        for (int i = 0; i < kills; i++)
            if (kill_at[i] == model.steps)
                model_kill(kill_whom[i]);
        for (int i = 0; i < model.processes; i++)
            if (!model.process[i].is_dead && model.process[i].tasks.phase_kind == RP_PHASE_MOVE) {
                model.move_first = model.move_first ? model.move_first : model.steps;
                model.move_last = model.steps;
            }
        for (int i = 0; i < model.processes && !model.second_run; i++)
            if (model.process[i].tasks.version == 1)
                model.second_run = model.steps;
        for (int i = 0; i < model.processes; i++)
            left += !model.process[i].is_dead &&
                    (!model.process[i].is_done || model.process[i].known < model.failure_count ||
                     model.process[i].tasks.recovering || model.process[i].tasks.missing > 0);
        if (left == 0 || *model.lost)
            return !*model.lost;
        struct model_process *p =
            &model.process[unit_below(&model.random, (uint64_t)model.processes)];
        if (!p->is_dead &&
            ((int)(p - model.process) + 1 != model.slow || unit_below(&model.random, 30) == 0))
            model_step(p, next);
    }
    snprintf(model.lost, sizeof model.lost, "it does not end");
    return false;
}

static uint64_t model_count(enum rp_task_count which)
{
    uint64_t sum = 0;

    for (int i = 0; i < model.processes; i++)
        if (!model.process[i].is_dead)
            sum += model.process[i].tasks.counts[which];
    return sum;
}

/* The state of a task, wherever it lives. */
__attribute__((unused)) static const void *model_state(int collection, int index)
{
    for (int i = 0; i < model.processes; i++) {
        rp_tasks_now = &model.process[i].tasks;
        const void *state =
            model.process[i].is_dead
                ? NULL
                : reprise_task_state(collection, (struct reprise_index){index, 0, 0});
        if (state)
            return state;
    }
    return NULL;
}

static void model_end(void)
{
    for (int i = 0; i < model.processes; i++) {
        for (size_t k = 0; k < model.process[i].count; k++)
            rp_parcel_drop(model.process[i].inbox[k].parcel);
        free(model.process[i].inbox);
        rp_tasks_free(&model.process[i].tasks);
    }
}

#endif
