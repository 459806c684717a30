/* SPDX-License-Identifier: MIT */
/* The rows of this rank's log, as the calls of the program come to them. */
#ifndef RP_CDC_REPLAY_ROWS_H
#define RP_CDC_REPLAY_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "cdc/codec/row_codec.h"
#include "log/logreader.h"
#include "entry/engine.h"

/* What the record has for a call. */
struct rp_answer {
    uint32_t kind; /* enum rp_row_kind; 0: the record has ended */
    bool with_next;
    struct rp_event other;
    /* MESSAGE */
    bool is_named; /* rank and clock are known; else only its place in the order of `table` */
    int32_t rank;
    uint64_t clock;
    int32_t index;
    uint32_t place;
};

enum rp_status rp_cdc_replay_rows_open(struct rp_log *log, bool check_places, const char *wrappers,
                                       struct rp_problem *why);

/* The next row for this call. */
struct rp_answer rp_cdc_replay_rows_next(const struct rp_call *call);

/* The next row that is a message, whichever call is to have it. Kind 0: which one that is, is not
 * known. */
struct rp_answer rp_cdc_replay_rows_next_message(void);

/* It has come true; of UNMATCHED, one of its polls; of MESSAGE, by a message of this rank. */
void rp_cdc_replay_rows_pass(const struct rp_call *call, int32_t rank);

/* The index of the request that gets the message that is next; of codec cdc it depends on its
 * sender. */
int32_t rp_cdc_replay_rows_index(const struct rp_answer *answer, int32_t rank);

/* The cdc table that the next row is in; NULL: rows name their messages. A new number is another
 * table. */
const struct rp_cdc_table *rp_cdc_replay_rows_table(uint64_t *number);

/* Whether a message that is not above the epoch line of the table belongs to a later one all the
 * same. */
bool rp_cdc_replay_rows_is_late(int32_t rank, uint64_t clock);

/* Rows that came true, and how many there are; whether all have come true. */
uint64_t rp_cdc_replay_rows_done(void);
uint64_t rp_cdc_replay_rows_total(void);
bool rp_cdc_replay_rows_are_done(void);

/* Where the program is and what the record has there, for a report. */
void rp_cdc_replay_rows_describe(const struct rp_call *call, struct rp_buffer *out);

#endif
