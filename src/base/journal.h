/* SPDX-License-Identifier: MIT */
/* A file of entries that survive whatever kills the process, since it is mapped: docs/format.md,
 * section 11. */
#ifndef RP_JOURNAL_H
#define RP_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { RP_JOURNAL_MOST = 1 << 16 }; /* bytes of an entry */

struct rp_journal;

/* Makes a file that must not exist yet. */
enum rp_status rp_journal_create(const char *path, struct rp_journal **out, struct rp_problem *why);

/* Appends an entry of at least one byte. If there is no room on the disk, the file ends there,
 * after one message. */
void rp_journal_put(struct rp_journal *journal, const void *bytes, size_t length);

/* Gives back what is not used of the file; `remove`: and the file. */
void rp_journal_close(struct rp_journal *journal, bool remove);

/* Reading, from the bytes of a file. */
struct rp_journal_view {
    const uint8_t *at, *end;
    uint64_t number; /* of the next entry */
    bool damaged;
};

bool rp_journal_is(const uint8_t *bytes, size_t length);
/* Its process was killed before the first entry was there: as good as none. */
bool rp_journal_is_blank(const uint8_t *bytes, size_t length);
struct rp_journal_view rp_journal_view_of(const uint8_t *bytes,
                                          size_t length); /* of what is a journal */
bool rp_journal_next(struct rp_journal_view *view, const uint8_t **bytes,
                     size_t *length); /* false: there is no further one, or damaged is set */

#endif
