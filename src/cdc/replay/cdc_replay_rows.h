/* SPDX-License-Identifier: MIT */
/* The rows of this rank's log, in the order in which the calls of the program use them. */
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
    bool is_named; /* rank and clock are known; else only its position in the order of `table` */
    int32_t rank;
    uint64_t clock;
    int32_t index;
    uint32_t position;
};

/* `check_sites`: the program is the recorded one, so that call sites can be compared. `wrappers`:
 * the recorded patterns of names (event/wrappers.h). */
enum rp_status rp_cdc_replay_rows_open(struct rp_log *log, bool check_sites, const char *wrappers,
                                       struct rp_problem *why);

/* Returns the next row for this call. */
struct rp_answer rp_cdc_replay_rows_next(const struct rp_call *call);

/* Returns the next row that is a message, whichever call receives it. Kind 0: it is not known. */
struct rp_answer rp_cdc_replay_rows_next_message(void);

/* The call has replayed its next row; of UNMATCHED, one of its polls; of MESSAGE, with a message
 * that `rank` sent. */
void rp_cdc_replay_rows_pass(const struct rp_call *call, int32_t rank);

/* Returns the index of the request that gets the next message; with codec cdc it depends on the
 * sender. */
int32_t rp_cdc_replay_rows_index(const struct rp_answer *answer, int32_t rank);

/* Returns the cdc table that the next row is in; NULL: rows name their messages. Sets *number,
 * which differs from table to table. */
const struct rp_cdc_table *rp_cdc_replay_rows_table(uint64_t *number);

/* Returns whether a message that is not above the epoch line of the table belongs to a later table
 * all the same. */
bool rp_cdc_replay_rows_is_late(int32_t rank, uint64_t clock);

/* Return how many rows were replayed; how many there are; whether all were replayed. */
uint64_t rp_cdc_replay_rows_done(void);
uint64_t rp_cdc_replay_rows_total(void);
bool rp_cdc_replay_rows_are_done(void);

/* Appends where the program is and what the record has there, for a report. */
void rp_cdc_replay_rows_describe(const struct rp_call *call, struct rp_buffer *out);

#endif
