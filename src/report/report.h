/* SPDX-License-Identifier: MIT */
/* Everything that a record shows, computed once; text, JSON, pages and exports print it. */
#ifndef RP_REPORT_H
#define RP_REPORT_H

#include "event/event.h"
#include "report/callsites.h"
#include "report/facts.h"
#include "report/output.h"
#include "report/timeline.h"

/* Messages that are known of, from one rank to another. */
struct rp_edge {
    uint32_t from, to;
    uint64_t messages;
};

/* What logs are made of, by kind of chunk and codec. */
struct rp_report_part {
    uint8_t kind, codec;
    uint64_t chunks, items, bytes;
};

/* What the fields of events would take as columns of codec *tables*, before its compression. */
enum rp_field {
    RP_FIELD_KIND,
    RP_FIELD_SITE,
    RP_FIELD_POSTS,
    RP_FIELD_SCOPE,
    RP_FIELD_A,
    RP_FIELD_B,
    RP_FIELD_C,
    RP_FIELDS
};

struct rp_report {
    struct rp_facts facts;
    bool clocked;  /* messages have clocks: all receives are known, and senders are ranks of
                      MPI_COMM_WORLD; else known are wildcard receives, and senders are numbered as
                      in their communicator */
    bool timed;    /* events have times */
    bool has_rows; /* the logs hold rows: there are no timelines, and of cdc no call sites and no
                      messages */
    struct rp_call_sites sites;
    struct rp_edge *edges; /* by receiver, then by sender */
    size_t edge_count, edge_room;
    uint64_t elsewhere; /* messages whose sender is no rank of the run */
    struct rp_report_part *parts;
    size_t part_count;
    uint64_t kinds[RP_EVENT_KINDS]; /* events */
    uint64_t fields[RP_FIELDS];     /* bytes */
    uint64_t frame;       /* bytes of logs that are in none of these: headers, indices, trailers */
    uint64_t ring_events; /* that are in rings alone */
    uint64_t threads;     /* that had events besides the first of their rank */
    uint64_t first_time, last_time; /* microseconds since 1970 */
    struct rp_timeline *timelines;  /* by rank; NULL: not asked for, or rows */
};

/* Reads and checks all logs of the record. */
enum rp_status rp_report_collect(const char *directory, bool with_timelines, struct rp_report *out,
                                 struct rp_problem *why);
void rp_report_free(struct rp_report *report);

/* How many of the call sites that have events left MPI a choice. */
size_t rp_report_open_sites(const struct rp_report *report, size_t *used);

const char *rp_report_chunk_name(uint8_t kind);
const char *rp_report_codec_name(uint8_t codec); /* "" for none */

/* Of one record or several. */
void rp_report_put_text(struct rp_output *out, const struct rp_report *reports, size_t count);
void rp_report_put_json(struct rp_output *out, const struct rp_report *reports, size_t count);

/* The members of one record, all but its timeline. */
void rp_report_put_json_members(struct rp_output *out, const struct rp_report *report);

#endif
