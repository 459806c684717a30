/* SPDX-License-Identifier: MIT */
/* What the encoder and the decoder of cdc share: the counts at the beginning of a table, and the
 * columns of its OTHER rows, both in their order in the file. */
#ifndef RP_CDC_PARTS_H
#define RP_CDC_PARTS_H

#include "cdc/codec/linear_prediction.h"

enum rp_cdc_count {
    RP_CDC_SITE,
    RP_CDC_ENTRIES,
    RP_CDC_OTHERS,
    RP_CDC_MOVES,
    RP_CDC_WITH_NEXT,
    RP_CDC_UNMATCHED,
    RP_CDC_EPOCH,
    RP_CDC_LATE,
    RP_CDC_INDICES,
    RP_CDC_THREADS,
    RP_CDC_COUNTS
};

struct rp_cdc_counts {
    uint64_t of[RP_CDC_COUNTS];
};

enum rp_cdc_column {
    RP_CDC_COLUMN_ENTRY,
    RP_CDC_COLUMN_KIND,
    RP_CDC_COLUMN_SCOPE,
    RP_CDC_COLUMN_A,
    RP_CDC_COLUMN_B,
    RP_CDC_COLUMN_C,
    RP_CDC_COLUMN_ORDER, /* only for THREAD and TURN */
    RP_CDC_COLUMNS
};

/* What a column needs of the previous rows. */
struct rp_cdc_state {
    struct rp_linear linear;
    uint64_t expected; /* the next post */
};

#endif
