/* SPDX-License-Identifier: MIT */
/* Two replays, compared by what a rank handed to MPI in them (log/output_log.h), and by the lines
 * that they printed. */
#ifndef RP_OUTPUTSDIFF_H
#define RP_OUTPUTSDIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct rp_outputs_difference {
    bool is_found;
    bool is_floating; /* data of floating-point numbers */
    char *what;       /* the call that differs, and how; to be freed */
    uint64_t compared;
    uint64_t noise; /* items that differ in two replays of the same order, and were not compared */
    bool is_cut;    /* not all was compared */
};

/*
 * The first difference between `other` and `reference`, directories of such logs, of one rank.
 * Inside a region only the calls count, and not their order: answers to the senders of its messages
 * may be sent in any order. `again` is a second replay in the order of the reference, or NULL: what
 * differs between these two is noise. `is_whole`: the replays reached the end of the program, so
 * that one with fewer calls is different.
 */
enum rp_status rp_outputs_compare(const char *reference, const char *again, const char *other,
                                  uint32_t rank, bool is_whole, struct rp_outputs_difference *out,
                                  struct rp_problem *why);

/* How many regions a rank has, and where one of them, from 0, began (NULL: it has not so many); to
 * be freed. */
enum rp_status rp_outputs_regions(const char *directory, uint32_t rank, uint32_t region,
                                  uint32_t *regions, char **place, struct rp_problem *why);

/* The first line of the file `reference` that `other` has less often, whatever their order; not one
 * that `again` (or NULL) has less often, too. To be freed; NULL: none. */
enum rp_status rp_outputs_lost_line(const char *reference, const char *again, const char *other,
                                    char **line, struct rp_problem *why);

#endif
