/* SPDX-License-Identifier: MIT */
/* The record of a run: determinants and digests (docs/format.md, section 11). */
#ifndef RP_TASK_FILE_H
#define RP_TASK_FILE_H

#include "base/status.h"
#include "task/task_runtime.h"

/* Makes the journal of this process, when all collections are known. */
enum rp_status rp_task_file_begin(struct rp_tasks *tasks, struct rp_problem *why);

/* Puts it into the journal, if there is one. */
void rp_task_file_determinant(struct rp_tasks *tasks, const struct rp_determinant *one);

/* Adds the digest to those of the task; `put` also puts it into the journal. */
void rp_task_file_add_digest(struct rp_task *task, const struct rp_task_digest *digest);
void rp_task_file_put_digest(struct rp_tasks *tasks, uint32_t task,
                             const struct rp_task_digest *digest);

/* The file of this process: as bytes; and written, in place of the journal. */
enum rp_status rp_task_file_make(const struct rp_tasks *tasks, struct rp_buffer *out,
                                 struct rp_problem *why);
enum rp_status rp_task_file_write(struct rp_tasks *tasks, struct rp_problem *why);

/* Takes the determinants and digests of the files of all processes; of one file or journal. */
enum rp_status rp_task_file_read(struct rp_tasks *tasks, struct rp_problem *why);
enum rp_status rp_task_file_parse(struct rp_tasks *tasks, const uint8_t *bytes, size_t length,
                                  struct rp_problem *why);

#endif
