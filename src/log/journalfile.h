/* SPDX-License-Identifier: MIT */
/* Journals that belong to one rank of a record: their first entry is a letter, varint version, u64
 * run, varint rank. */
#ifndef RP_JOURNALFILE_H
#define RP_JOURNALFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/journal.h"
#include "base/status.h"

struct rp_journal_kind {
    uint8_t letter;
    uint64_t version;
    const char *name; /* such as "an order log" */
};

/* Makes a file that must not exist yet, with its first entry. */
enum rp_status rp_journal_file_create(const char *path, const struct rp_journal_kind *kind,
                                      uint64_t run, uint32_t rank, struct rp_journal **out,
                                      struct rp_problem *why);

/* Hands all other entries to `take`, in order; false: one is not good (errno is ENOMEM: there was
 * no memory for it). `version`, if not NULL, gets the file's. A journal whose process was killed
 * when it made it has none. */
enum rp_status rp_journal_file_read(const char *path, const struct rp_journal_kind *kind,
                                    uint64_t run, uint32_t rank, size_t limit,
                                    bool (*take)(void *data, struct rp_view *entry), void *data,
                                    uint64_t *version, struct rp_problem *why);

#endif
