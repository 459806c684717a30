/* SPDX-License-Identifier: MIT */
/*
 * A stage ends when nobody has anything to do and no message is under way. The first living process
 * asks all others in waves; each answers, once it is idle, how many messages it has sent and
 * received. If in two waves one after the other all of it is the same, and as many were received as
 * sent, it was so at one moment between them (Mattern's four counters), and the first process tells
 * that the stage is over.
 *
 * Stages have numbers. Nobody can be more than one stage ahead of another, since each stage needs
 * an answer of all.
 */
#include <string.h>

#include "task/task.h"

int rp_stage_first(const struct rp_tasks *tasks)
{
    int first = 0;

    while (first < tasks->processes - 1 && tasks->dead[first])
        first++;
    return first;
}

static void tell_all(struct rp_tasks *tasks, const struct rp_parcel_head *head)
{
    for (int i = 0; i < tasks->processes; i++)
        if (i != tasks->self && !tasks->dead[i])
            rp_tasks_tell(tasks, i, head, NULL, 0);
}

void rp_stage_reset(struct rp_tasks *tasks)
{
    tasks->wave_open = tasks->has_last = false;
}

void rp_stage_begin(struct rp_tasks *tasks, enum rp_stage kind)
{
    tasks->kind = kind;
    if (kind == RP_STAGE_RUN)
        tasks->has_starts = false;
    rp_stage_reset(tasks);
    rp_tasks_take_early(tasks);
}

bool rp_stage_is_over(const struct rp_tasks *tasks)
{
    return (tasks->kind == RP_STAGE_OUT && tasks->wanted == 0) || tasks->is_lost;
}

/* What comes after this stage: after a run, a checkpoint, if there is fault tolerance. */
void rp_stage_next(struct rp_tasks *tasks)
{
    enum rp_stage kind = tasks->kind;

    tasks->stage++;
    if ((kind == RP_STAGE_RUN || kind == RP_STAGE_AGAIN || kind == RP_STAGE_MOVE) &&
        rp_tasks_ft_is_on(tasks)) {
        rp_stage_begin(tasks, RP_STAGE_STORE);
        if (!tasks->recovering)
            rp_tasks_ft_store(tasks);
        return;
    }
    if (kind == RP_STAGE_STORE)
        rp_tasks_ft_commit(tasks);
    if (kind == RP_STAGE_END)
        memcpy(tasks->total, tasks->wave_counts, sizeof tasks->total);
    rp_stage_begin(tasks, RP_STAGE_OUT);
}

struct answer {
    uint64_t sent, received, counts[RP_COUNTS];
};

static struct answer own_answer(const struct rp_tasks *tasks)
{
    struct answer answer = {0};

    for (int i = 0; i < tasks->processes; i++)
        if (!tasks->dead[i]) {
            answer.sent += tasks->sent[i];
            answer.received += tasks->received[i];
        }
    memcpy(answer.counts, tasks->counts, sizeof answer.counts);
    return answer;
}

static void end_wave(struct rp_tasks *tasks)
{
    struct rp_parcel_head head = {.kind = RP_PARCEL_QUIET,
                                  .epoch = tasks->epoch,
                                  .stage = tasks->stage,
                                  .ref = tasks->wave_counts[RP_COUNT_DIFFERENCES]};
    bool is_quiet = tasks->has_last && tasks->wave_sent == tasks->wave_received &&
                    tasks->last_sent == tasks->wave_sent &&
                    tasks->last_received == tasks->wave_received;

    tasks->wave_open = false;
    tasks->last_sent = tasks->wave_sent;
    tasks->last_received = tasks->wave_received;
    tasks->has_last = true;
    if (!is_quiet)
        return;
    tell_all(tasks, &head);
    rp_stage_next(tasks);
}

static void add_answer(struct rp_tasks *tasks, const struct answer *answer)
{
    tasks->wave_sent += answer->sent;
    tasks->wave_received += answer->received;
    for (int i = 0; i < RP_COUNTS; i++)
        tasks->wave_counts[i] += answer->counts[i];
    if (++tasks->answers == tasks->processes - tasks->dead_count)
        end_wave(tasks);
}

static void begin_wave(struct rp_tasks *tasks)
{
    struct rp_parcel_head head = {.kind = RP_PARCEL_ASK,
                                  .epoch = tasks->epoch,
                                  .stage = tasks->stage,
                                  .ref = ++tasks->wave};
    struct answer own = own_answer(tasks);

    tasks->wave_open = true;
    tasks->answers = 0;
    tasks->wave_sent = tasks->wave_received = 0;
    memset(tasks->wave_counts, 0, sizeof tasks->wave_counts);
    tell_all(tasks, &head);
    add_answer(tasks, &own);
}

void rp_stage_idle(struct rp_tasks *tasks)
{
    if (tasks->kind == RP_STAGE_OUT)
        return;
    if (rp_stage_first(tasks) == tasks->self) {
        if (!tasks->wave_open)
            begin_wave(tasks);
    } else if (tasks->is_asked && tasks->asked_stage == tasks->stage &&
               tasks->asked_epoch == tasks->epoch) {
        struct rp_parcel_head head = {.kind = RP_PARCEL_ANSWER,
                                      .epoch = tasks->epoch,
                                      .stage = tasks->stage,
                                      .ref = tasks->wave};
        struct answer own = own_answer(tasks);
        tasks->is_asked = false;
        rp_tasks_tell(tasks, rp_stage_first(tasks), &head, &own, sizeof own);
    }
}

void rp_stage_take(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head,
                   const uint8_t *data)
{
    struct answer answer;

    (void)process;
    if (head->kind == RP_PARCEL_ASK && head->epoch >= tasks->epoch && head->stage >= tasks->stage) {
        tasks->is_asked = true; /* to be answered when we are where the asker is */
        tasks->asked_stage = head->stage;
        tasks->asked_epoch = head->epoch;
        tasks->wave = (uint32_t)head->ref;
    } else if (head->kind == RP_PARCEL_ANSWER && tasks->wave_open && head->ref == tasks->wave &&
               head->epoch == tasks->epoch && head->stage == tasks->stage) {
        memcpy(&answer, data, sizeof answer);
        add_answer(tasks, &answer);
    } else if (head->kind == RP_PARCEL_QUIET && head->epoch == tasks->epoch &&
               head->stage == tasks->stage && !tasks->recovering) {
        rp_stage_next(tasks);
        tasks->total[RP_COUNT_DIFFERENCES] = head->ref; /* all end with the same status */
    }
}
