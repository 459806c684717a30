/* SPDX-License-Identifier: MIT */
/*
 * Where commutative regions of one rank were closed before as many messages had come as they were
 * begun for: docs/format.md, section 16. The log of the rank has no ends of regions, and the
 * program tells the others by their counts. A replay needs it only to shuffle them: messages behind
 * the end of a region are none of its own.
 */
#ifndef RP_REGIONLOG_H
#define RP_REGIONLOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* `directory/rank-NNNNN.regions`, to be freed. */
char *rp_region_path(const char *directory, uint32_t rank);

struct rp_region_writer;

/* Makes a file that must not exist yet. If it cannot be written to its end, that is said once, and
 * later ends are lost. */
enum rp_status rp_region_create(const char *directory, uint64_t run, uint32_t rank,
                                struct rp_region_writer **out, struct rp_problem *why);
/* A region was closed behind so many events. */
void rp_region_closed(struct rp_region_writer *writer, uint64_t events);
void rp_region_close(struct rp_region_writer *writer);

struct rp_regions {
    uint64_t *end; /* events before each; they do not go back */
    size_t ends;
};

/* Without such a file there are none. */
enum rp_status rp_regions_read(const char *directory, uint64_t run, uint32_t rank,
                               struct rp_regions *out, struct rp_problem *why);
void rp_regions_free(struct rp_regions *regions);

/* Copies them into the directory of another record of the same run. */
enum rp_status rp_regions_copy(const char *from, const char *to, uint64_t run, uint32_t rank,
                               struct rp_problem *why);

/* The first that is behind more than so many events, or UINT64_MAX. */
uint64_t rp_regions_after(const struct rp_regions *regions, uint64_t events);

#endif
