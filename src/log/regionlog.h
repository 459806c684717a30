/* SPDX-License-Identifier: MIT */
/*
 * The ends of commutative regions of one rank that were closed early: before as many messages had
 * arrived as the region was begun for (docs/format.md, section 16). The log of the rank has no ends
 * of regions; all other regions end when their count is reached. Only a replay that shuffles needs
 * these ends: messages behind the end of a region do not belong to it.
 */
#ifndef RP_REGIONLOG_H
#define RP_REGIONLOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Returns the path `directory/rank-NNNNN.regions`, which the caller frees. */
char *rp_region_path(const char *directory, uint32_t rank);

struct rp_region_writer;

/* Makes the file of a rank, which must not exist yet. If a later write fails, one message says so,
 * and later ends are lost. rp_region_close frees *out. */
enum rp_status rp_region_create(const char *directory, uint64_t run, uint32_t rank,
                                struct rp_region_writer **out, struct rp_problem *why);
/* Appends that a region was closed after `events` events of the rank. */
void rp_region_closed(struct rp_region_writer *writer, uint64_t events);
void rp_region_close(struct rp_region_writer *writer);

struct rp_regions {
    uint64_t *end; /* how many events stand before each end; never decreases */
    size_t ends;
};

/* Reads the ends of a rank; rp_regions_free frees them. Without a file *out is empty, and the
 * function returns RP_OK. */
enum rp_status rp_regions_read(const char *directory, uint64_t run, uint32_t rank,
                               struct rp_regions *out, struct rp_problem *why);
void rp_regions_free(struct rp_regions *regions);

/* Copies the ends of a rank from the record `from` into the record `to` of the same run. */
enum rp_status rp_regions_copy(const char *from, const char *to, uint64_t run, uint32_t rank,
                               struct rp_problem *why);

/* Returns the first end that stands after more than `events` events; UINT64_MAX if there is none.
 */
uint64_t rp_regions_after(const struct rp_regions *regions, uint64_t events);

#endif
