/* SPDX-License-Identifier: MIT */
/* Records of programs of tasks, as the command sees them (docs/format.md, section 11). Only a
 * program of tasks can read their contents (src/task). */
#ifndef RP_TASKRECORD_H
#define RP_TASKRECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct rp_task_record {
    uint32_t processes, tasks;
    uint32_t cut_off; /* processes that left a journal, or nothing */
    uint64_t bytes;
};

/* Whether the directory is such a record. */
bool rp_task_record_is(const char *directory);

/* Reads all its files, and checks what can be checked without the program: that all are there and
 * belong together, and checksums. */
enum rp_status rp_task_record_read(const char *directory, struct rp_task_record *out,
                                   struct rp_problem *why);

#endif
