/* SPDX-License-Identifier: MIT */
/* Phases of a run, and how all processes find out that one is over. */
#ifndef RP_TASK_PHASES_H
#define RP_TASK_PHASES_H

#include "task/task_runtime.h"

/* `on_begin` is called whenever a phase has begun. */
void rp_phases_init(struct rp_tasks *tasks, void (*on_begin)(struct rp_tasks *tasks));
void rp_phases_free(struct rp_tasks *tasks);

void rp_phase_begin(struct rp_tasks *tasks, enum rp_task_phase kind);

/* Goes on to what follows the present phase: after a run a checkpoint, if there is fault
 * tolerance. */
void rp_phase_next(struct rp_tasks *tasks);

/* A process has died: waves begin again. */
void rp_phase_reset(struct rp_tasks *tasks);

/* Whether the program goes on outside of the runtime. */
bool rp_phase_is_over(const struct rp_tasks *tasks);

/* This process has nothing to do: it begins a wave, or answers one. */
void rp_phase_idle(struct rp_tasks *tasks);

/* A parcel about waves and ends of phases. */
void rp_phase_receive(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                      const uint8_t *data);

/* How many processes have answered the present wave. */
int rp_phase_answers(const struct rp_tasks *tasks);

#endif
