/* SPDX-License-Identifier: MIT */
/* A file of entries, docs/format.md, section 11. The file is mapped, so entries survive however the
 * process is killed. */
#ifndef RP_JOURNAL_H
#define RP_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { RP_JOURNAL_MOST = 1 << 16 }; /* the largest entry, in bytes */

struct rp_journal;

/* Makes the file, which must not exist, and sets *out. rp_journal_close closes it. */
enum rp_status rp_journal_create(const char *path, struct rp_journal **out, struct rp_problem *why);

/* Appends an entry of 1 to RP_JOURNAL_MOST bytes. If the disk is full, prints one message and drops
 * this entry and all later ones. */
void rp_journal_put(struct rp_journal *journal, const void *bytes, size_t length);

/* Truncates the file to what is used and closes it. Removes the file if `remove`. */
void rp_journal_close(struct rp_journal *journal, bool remove);

/* Reads the entries of a journal from the bytes of its file. */
struct rp_journal_view {
    const uint8_t *at, *end;
    uint64_t number; /* of the next entry */
    bool damaged;
};

bool rp_journal_is(const uint8_t *bytes, size_t length);
/* Whether the process was killed before the first entry was written. Such a file counts as absent.
 */
bool rp_journal_is_blank(const uint8_t *bytes, size_t length);
struct rp_journal_view rp_journal_view_of(const uint8_t *bytes,
                                          size_t length); /* the bytes must be a journal */
bool rp_journal_next(struct rp_journal_view *view, const uint8_t **bytes,
                     size_t *length); /* returns false after the last entry, or sets `damaged` */

#endif
