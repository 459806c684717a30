/* SPDX-License-Identifier: MIT */
/*
 * The receives of which it is not known yet which message they take. Those that ask for the same
 * (communicator, source, tag) stand in one line, in the order in which they were posted: of a line
 * only the first can be next. A message fits four lines at most.
 */
#ifndef RP_DET_POSTED_H
#define RP_DET_POSTED_H

#include "det/det.h"

struct rp_det_line {
    const struct rp_det_comm *comm;
    uint32_t world; /* RP_DET_ANYONE: of any source */
    int tag;
    struct rp_det_receive *first, *last;
    unsigned delayed;                    /* of them */
    struct rp_det_line *chain;           /* of its hash */
    struct rp_det_line *next, *previous; /* of those with delayed ones */
};

#define RP_DET_ANYONE UINT32_MAX

void rp_det_posted_add(struct rp_det_receive *receive);
void rp_det_posted_remove(struct rp_det_receive *receive);
bool rp_det_posted_is_empty(void);
bool rp_det_posted_uses(const struct rp_det_comm *comm);   /* whether one is on this communicator */
bool rp_det_posted_delays(const struct rp_det_comm *comm); /* a delayed one */

/* The first that was posted and fits the message, before `receive` if that is posted itself. NULL:
 * none. */
struct rp_det_receive *rp_det_posted_first(const struct rp_message_note *note,
                                           const struct rp_det_receive *before);

/* Whether a delayed one may want a message that this one could take. */
bool rp_det_posted_overlaps(const struct rp_det_receive *receive);

/* All lines with delayed receives: from NULL to NULL. */
struct rp_det_line *rp_det_posted_next(const struct rp_det_line *line);

#endif
