/* SPDX-License-Identifier: MIT */
/* Where two records diverge: the first event that differs on each rank, and which of these events
 * came first. */
#ifndef RP_DIFF_H
#define RP_DIFF_H

#include "event/event.h"
#include "log/format.h"
#include "log/manifest.h"
#include "report/output.h"

enum rp_difference {
    RP_SAME,
    RP_DIFFERS_END,      /* one has no further event, or ended in another way */
    RP_DIFFERS_POLLS,    /* polls that answered no, or how many */
    RP_DIFFERS_FUNCTION, /* another MPI function */
    RP_DIFFERS_PLACE,    /* called from elsewhere */
    RP_DIFFERS_POSTS,    /* receives posted since the event before */
    RP_DIFFERS_SCOPE,    /* communicator, or number of requests */
    RP_DIFFERS_MESSAGE,  /* another message */
    RP_DIFFERS_THREAD,   /* another thread's turn, or after more turns */
    RP_DIFFERS_OUTCOME,  /* anything else that the call answered */
};

/* What one record has at that place. */
struct rp_diff_side {
    bool has_event;
    uint64_t number;       /* of the event; without one, how many there are */
    struct rp_event event; /* of polls, the first; its c is the sum of all */
    int32_t thread;
    char *function, *place; /* place: as rp_site_place_put has it */
    char *stack, *frames;   /* as text, and as JSON */
    enum rp_end_reason reason;
    int64_t code;
    bool has_clock, has_time;
    uint64_t clock; /* the least that the rank's clock can be behind the event */
    uint64_t time;  /* microseconds since 1970 */
};

struct rp_divergence {
    uint32_t rank;
    uint64_t identity; /* of the thread; 0: the order of all threads */
    enum rp_difference difference;
    struct rp_diff_side side[2];
};

/* The reason why one divergence is known to have come first. */
enum rp_diff_basis {
    RP_BY_NONE,   /* nothing: the smallest number of the event is named */
    RP_BY_ONLY,   /* no other rank differs, or only by where or how it ended */
    RP_BY_CLOCKS, /* the smallest Lamport clock: no other can have caused it, as far as messages
                     show */
    RP_BY_TIMES,  /* the earliest time */
};

struct rp_diff {
    char *directory[2];
    struct rp_manifest manifest[2];
    bool same_program;
    bool same_callers; /* both distinguish callers of wrappers in the same way, or neither does */
    uint64_t events[2];
    struct rp_divergence *ranks; /* one for each rank that differs, in order */
    size_t rank_count;
    struct rp_divergence *threads; /* where a rank that differs has several threads: each thread
                                      whose own events differ; in order of ranks */
    size_t thread_count;
    uint32_t threads_left_out; /* ranks with more threads than are compared one by one */
    size_t earliest;           /* in `ranks` */
    enum rp_diff_basis basis;
    bool certain; /* it came first in both runs */
};

/* Compares the records `one` and `other`; rp_diff_free frees *out. With `without_polls`, polls that
 * answered no are passed over. Returns RP_USAGE if the records cannot be compared. Reads one rank
 * after the other, a chunk at a time. */
enum rp_status rp_diff_collect(const char *one, const char *other, bool without_polls,
                               struct rp_diff *out, struct rp_problem *why);
void rp_diff_free(struct rp_diff *diff);

void rp_diff_put_text(struct rp_output *out, const struct rp_diff *diff);
void rp_diff_put_json(struct rp_output *out, const struct rp_diff *diff);

#endif
