/* SPDX-License-Identifier: MIT */
/*
 * The times at which one rank synchronised its windows, and the members of those windows
 * (docs/format.md, section 13). A replay of the rank does not need them; attribution does, to find
 * which rank wrote what this rank read.
 *
 * A mark (n, t) says that at time t exactly n entries of the rank's data log were complete. So what
 * happened while there were n entries was later than every mark of fewer, and sooner than every
 * mark of more. There are such marks of loads, too.
 */
#ifndef RP_ORDER_LOG_H
#define RP_ORDER_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Returns the path `directory/rank-NNNNN.order`, which the caller frees. */
char *rp_order_log_path(const char *directory, uint32_t rank);

struct rp_order_log_writer;

/* Makes the file of a rank, which must not exist yet. If a later write fails, one message says so,
 * and later marks are lost. rp_order_log_close frees *out. */
enum rp_status rp_order_log_create(const char *directory, uint64_t run, uint32_t rank,
                                   struct rp_order_log_writer **out, struct rp_problem *why);
void rp_order_log_mark(struct rp_order_log_writer *writer, uint64_t entries, uint64_t time);
/* Appends the mark that at `time` a tracked program had made exactly `loads` loads from windows. */
void rp_order_log_mark_loads(struct rp_order_log_writer *writer, uint64_t loads, uint64_t time);
/* Appends that the rank made its next window. `members` are `count` ranks in MPI_COMM_WORLD, in the
 * order of the window's group. */
void rp_order_log_window(struct rp_order_log_writer *writer, const int *members, size_t count);
/* Appends that `size` bytes at `address` were attached to the dynamic window of this number. */
void rp_order_log_attach(struct rp_order_log_writer *writer, uint64_t window, uint64_t address,
                         uint64_t size);
void rp_order_log_close(struct rp_order_log_writer *writer);

struct rp_order_log_mark {
    uint64_t entries, time;
};

struct rp_order_log_members {
    uint32_t *rank;
    size_t count;
};

struct rp_order_log_attached {
    uint64_t window, address, size;
};

struct rp_order_log {
    uint64_t version; /* of the file; version 1 has no loads and no attached memory; 0: the file is
                         empty */
    struct rp_order_log_mark *mark; /* neither entries nor time ever decrease */
    size_t marks;
    struct rp_order_log_mark *load; /* marks of loads instead of entries */
    size_t loads;
    struct rp_order_log_members *window; /* in the order in which they were made */
    size_t windows;
    struct rp_order_log_attached *attached; /* in this order */
    size_t attaches;
};

/* Reads the file of a rank; rp_order_log_free frees *out. Returns RP_USAGE if there is none. */
enum rp_status rp_order_log_read(const char *directory, uint64_t run, uint32_t rank,
                                 struct rp_order_log *out, struct rp_problem *why);
void rp_order_log_free(struct rp_order_log *order);

/* Returns the time of the last mark of fewer than `entries` entries; 0 if there is none. */
uint64_t rp_order_log_before(const struct rp_order_log *order, uint64_t entries);
/* Returns the time of the first mark of at least `entries` entries; UINT64_MAX if there is none. */
uint64_t rp_order_log_after(const struct rp_order_log *order, uint64_t entries);
/* Both return the same times for marks of loads instead of entries. */
uint64_t rp_order_log_before_load(const struct rp_order_log *order, uint64_t loads);
uint64_t rp_order_log_after_load(const struct rp_order_log *order, uint64_t loads);

#endif
