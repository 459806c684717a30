/* SPDX-License-Identifier: MIT */
/* Journals that belong to one rank of a record. The first entry of such a journal is its header:
 * the byte that marks its kind, varint version, u64 run, varint rank. */
#ifndef RP_JOURNALFILE_H
#define RP_JOURNALFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/journal.h"
#include "base/status.h"

struct rp_journal_kind {
    uint8_t mark;
    uint64_t version;
    const char *name; /* such as "an order log" */
};

/* Makes the journal `path`, which must not exist yet, with its header. The caller closes *out. */
enum rp_status rp_journal_file_create(const char *path, const struct rp_journal_kind *kind,
                                      uint64_t run, uint32_t rank, struct rp_journal **out,
                                      struct rp_problem *why);

/* Reads the journal and calls take(data, entry) for each entry behind the header, in order. `take`
 * returns false for a bad entry, or with errno ENOMEM if it has no memory. *version, unless
 * `version` is NULL, becomes that of the file. A journal whose process was killed while it made the
 * file has no entries. */
enum rp_status rp_journal_file_read(const char *path, const struct rp_journal_kind *kind,
                                    uint64_t run, uint32_t rank, size_t limit,
                                    bool (*take)(void *data, struct rp_view *entry), void *data,
                                    uint64_t *version, struct rp_problem *why);

#endif
