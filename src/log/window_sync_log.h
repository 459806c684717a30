/* SPDX-License-Identifier: MIT */
/*
 * When the calls of one rank were that synchronise windows, and whose windows they are:
 * docs/format.md, section 13. It is not needed to replay the rank, but to tell which rank wrote
 * what it read.
 *
 * A mark (n, t) says that at time t exactly n entries of the rank's data log were complete. So what
 * happened while there were n entries was later than every mark of fewer, and sooner than every
 * mark of more. There are such marks of loads, too.
 */
#ifndef RP_WINDOW_SYNC_LOG_H
#define RP_WINDOW_SYNC_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* `directory/rank-NNNNN.order`, to be freed. */
char *rp_window_sync_path(const char *directory, uint32_t rank);

struct rp_window_sync_writer;

/* Makes a file that must not exist yet. If it cannot be written to its end, that is said once, and
 * later marks are lost. */
enum rp_status rp_window_sync_create(const char *directory, uint64_t run, uint32_t rank,
                                     struct rp_window_sync_writer **out, struct rp_problem *why);
void rp_window_sync_mark(struct rp_window_sync_writer *writer, uint64_t entries, uint64_t time);
/* At that time exactly so many loads from windows were made. Of a tracked program. */
void rp_window_sync_mark_loads(struct rp_window_sync_writer *writer, uint64_t loads, uint64_t time);
/* The rank's next window was made. Members are ranks in MPI_COMM_WORLD, in the order of the
 * window's group. */
void rp_window_sync_window(struct rp_window_sync_writer *writer, const int *members, size_t count);
/* Memory was attached to a dynamic window, which has this number. */
void rp_window_sync_attach(struct rp_window_sync_writer *writer, uint64_t window, uint64_t address,
                           uint64_t size);
void rp_window_sync_close(struct rp_window_sync_writer *writer);

struct rp_window_sync_mark {
    uint64_t entries, time;
};

struct rp_window_sync_members {
    uint32_t *rank;
    size_t count;
};

struct rp_window_sync_attached {
    uint64_t window, address, size;
};

struct rp_window_sync {
    uint64_t version; /* of the file; of 1, no loads and no attached memory are told; 0: there was
                         nothing in it */
    struct rp_window_sync_mark *mark; /* neither goes back */
    size_t marks;
    struct rp_window_sync_mark *load; /* of loads instead of entries */
    size_t loads;
    struct rp_window_sync_members *window; /* in the order in which they were made */
    size_t windows;
    struct rp_window_sync_attached *attached; /* in this order */
    size_t attaches;
};

/* RP_USAGE: there is none. */
enum rp_status rp_window_sync_read(const char *directory, uint64_t run, uint32_t rank,
                                   struct rp_window_sync *out, struct rp_problem *why);
void rp_window_sync_free(struct rp_window_sync *order);

/* The last mark of fewer entries than that, or 0. */
uint64_t rp_window_sync_before(const struct rp_window_sync *order, uint64_t entries);
/* The first mark of at least so many, or UINT64_MAX. */
uint64_t rp_window_sync_after(const struct rp_window_sync *order, uint64_t entries);
/* The same of loads. */
uint64_t rp_window_sync_before_load(const struct rp_window_sync *order, uint64_t loads);
uint64_t rp_window_sync_after_load(const struct rp_window_sync *order, uint64_t loads);

#endif
