/* SPDX-License-Identifier: MIT */
/*
 * The record table of the clock delta compression paper (its figure 4): what the codecs raw, gzip and cdc work on.
 *
 * A row tells one thing that a matching function (a call site) answered. Message rows identify a message by the sender's rank in MPI_COMM_WORLD and the Lamport
 * clock that it carried; what the paper's table cannot tell (probes, completed sends, cancels) stands in rows that carry an event of ours.
 */
#ifndef RP_ROWS_H
#define RP_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "event/event.h"

enum rp_row_kind {
    RP_ROW_UNMATCHED = 1, /* `count` polls that answered no */
    RP_ROW_MESSAGE = 2,   /* a message was received: rank, clock; index of its request in the call's array, -1 where there is none */
    RP_ROW_OTHER = 3,     /* anything else: `other`, whose site and posts are not kept */
};

struct rp_row {
    uint32_t kind;
    uint32_t site;
    uint64_t count;     /* UNMATCHED, else 1 */
    uint32_t with_next; /* the next row of this site belongs to the same call */
    int32_t rank;
    uint64_t clock;
    int32_t index;
    struct rp_event other;
};

#endif
