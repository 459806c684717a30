/* SPDX-License-Identifier: MIT */
/* What the files of a record of tasks begin with (docs/format.md, section 11): read by the programs
 * of tasks themselves, and from outside. */
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

/* `rest`: what is between the head and the checksum, which is checked. */
enum rp_status rp_task_header_of_file(const uint8_t *bytes, size_t length,
                                      struct rp_task_header *head, struct rp_view *rest,
                                      struct rp_problem *why);

/* Takes the first entry. */
enum rp_status rp_task_header_of_journal(struct rp_journal_view *journal,
                                         struct rp_task_header *head, struct rp_problem *why);

#endif
