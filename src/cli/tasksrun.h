/* SPDX-License-Identifier: MIT */
/* Records of programs of tasks (reprise_tasks.h). The program writes and reads its record by
 * itself; the command only sets where. */
#ifndef RP_TASKSRUN_H
#define RP_TASKSRUN_H

#include "base/buffer.h"
#include "base/status.h"

enum { RP_TASKS_WORDS = 4096 };

/* Runs the command, which records into the directory. Returns the exit status. */
int rp_tasks_record(char **command, const char *directory);

/* The working directory and the command line of a record. The words point into the buffer. */
enum rp_status rp_tasks_read_command(const char *directory, struct rp_buffer *text,
                                     char *words[RP_TASKS_WORDS + 1], struct rp_problem *why);

/* Runs the command, or the recorded one if it is NULL, against the record. */
int rp_tasks_replay(char **command, const char *directory);

#endif
