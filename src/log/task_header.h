/* SPDX-License-Identifier: MIT */
/* The header of the files of a record of tasks (docs/format.md, section 11). Programs of tasks read
 * it, and so does the command. */
#ifndef RP_TASK_HEADER_H
#define RP_TASK_HEADER_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/journal.h"
#include "base/status.h"

struct rp_task_header {
    uint32_t process, processes, tasks;
};

/* The head of a file that is written when the run ends; its checksum is put behind all the rest. Of
 * a journal it is the first entry, without the magic. */
void rp_task_header_begin(struct rp_buffer *out, const struct rp_task_header *head);
void rp_task_header_put(struct rp_buffer *out, const struct rp_task_header *head);

/* Reads the header of a file of `length` bytes and checks its checksum. *rest becomes what is
 * between the two. */
enum rp_status rp_task_header_of_file(const uint8_t *bytes, size_t length,
                                      struct rp_task_header *head, struct rp_view *rest,
                                      struct rp_problem *why);

/* Reads the header of a journal, which is its first entry. */
enum rp_status rp_task_header_of_journal(struct rp_journal_view *journal,
                                         struct rp_task_header *head, struct rp_problem *why);

#endif
