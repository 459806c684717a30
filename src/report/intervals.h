/* SPDX-License-Identifier: MIT */
/* Timelines as other viewers want them: calls that begin and end, one after another on each rank,
 * and sends between them. */
#ifndef RP_INTERVALS_H
#define RP_INTERVALS_H

#include "report/report.h"

/* A call, and the events that it made. Times are nanoseconds from the start; without recorded
 * times, every event takes 1,000. */
struct rp_interval {
    uint64_t start, end;
    size_t first, count; /* moments */
};

struct rp_intervals {
    struct rp_interval *at;
    size_t count;
};

/* A message whose send is known. */
struct rp_trace_message {
    uint32_t sender, receiver;
    size_t moment;     /* of the receiver */
    uint64_t clock;    /* with which it was sent */
    uint64_t sent;     /* when; not before the event that stands before the send */
    uint64_t received; /* the start of the span */
};

struct rp_trace {
    const struct rp_report *report;
    struct rp_intervals *ranks;
    struct rp_trace_message *messages; /* by sender, then in the order in which they were sent */
    size_t message_count;
    uint64_t end; /* of the last span */
};

/* The report must have timelines. */
enum rp_status rp_trace_make(const struct rp_report *report, struct rp_trace *out,
                             struct rp_problem *why);
void rp_trace_free(struct rp_trace *trace);

/* Chrome's and Perfetto's JSON. */
void rp_trace_put_perfetto(struct rp_output *out, const struct rp_trace *trace);

/* An OTF2 archive in a new directory; RP_UNSUPPORTED if reprise was built without that library. */
enum rp_status rp_trace_write_otf2(const struct rp_trace *trace, const char *directory,
                                   struct rp_problem *why);

#endif
