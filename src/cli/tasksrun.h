/* SPDX-License-Identifier: MIT */
/* Records of programs of tasks (reprise_tasks.h): they write and read them by themselves, and are only told where. */
#ifndef RP_TASKSRUN_H
#define RP_TASKSRUN_H

#include <stdbool.h>

/* Runs the command, which records into the directory. Returns the exit status. */
int rp_tasks_record(char **command, const char *directory);

bool rp_tasks_is_record(const char *directory);

/* Runs the command, or the recorded one if it is NULL, against the record. */
int rp_tasks_replay(char **command, const char *directory);

#endif
