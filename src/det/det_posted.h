/* SPDX-License-Identifier: MIT */
/*
 * The receives of which it is not known yet which message they take. Those that ask for the same
 * (communicator, source, tag) stand in one queue, in the order in which they were posted: of a
 * queue only the first can be next. A message fits four queues at most.
 */
#ifndef RP_DET_POSTED_H
#define RP_DET_POSTED_H

#include "det/det_comms.h"
#include "det/shared_messages.h"

/* A receive of the program, or a probe. */
struct rp_det_receive {
    struct rp_det_comm *comm;
    int source, tag;
    uint32_t world;  /* the source in the job, where it is named */
    uint64_t posted; /* at which logical time */
    bool is_known;   /* which message it takes: */
    uint64_t stamp;
    uint32_t from_world;
    int from, its_tag;
    struct rp_shared_message *message; /* unless it is the sender's to free */
    bool is_probe; /* it takes the message out of the matching; its sender, if synchronous, waits on
                    */
    bool is_listed;
    struct rp_det_queue *queue; /* while it is listed here */
    struct rp_det_receive *next, *previous;
    uint64_t number;
    /* The real one. */
    bool is_delayed; /* it is made when the message is known */
    bool is_made;
    MPI_Request real;
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
    bool owns_type;
};

struct rp_det_queue {
    const struct rp_det_comm *comm;
    uint32_t world; /* RP_DET_ANYONE: of any source */
    int tag;
    struct rp_det_receive *first, *last;
    unsigned delayed;                     /* how many of them are */
    struct rp_det_queue *chain;           /* of its hash */
    struct rp_det_queue *next, *previous; /* of those with delayed ones */
};

#define RP_DET_ANYONE UINT32_MAX

void rp_det_posted_add(struct rp_det_receive *receive);
void rp_det_posted_remove(struct rp_det_receive *receive);
bool rp_det_posted_is_empty(void);

/* Whether a receive on this communicator is here; and a delayed one. */
bool rp_det_posted_uses(const struct rp_det_comm *comm);
bool rp_det_posted_delays(const struct rp_det_comm *comm);

/* The first receive that was posted and fits the message, before `before` if that is posted itself.
 * NULL: none. */
struct rp_det_receive *rp_det_posted_first(const struct rp_shared_message *message,
                                           const struct rp_det_receive *before);

/* Whether a delayed one may want a message that this one could take. */
bool rp_det_posted_overlaps(const struct rp_det_receive *receive);

/* All queues with delayed receives: from NULL to NULL. */
struct rp_det_queue *rp_det_posted_next(const struct rp_det_queue *queue);

#endif
