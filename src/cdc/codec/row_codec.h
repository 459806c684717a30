/* SPDX-License-Identifier: MIT */
/* Codecs of rows, as codec.h has those of events: rows in the order of time <-> the payload of a
 * ROWS chunk. */
#ifndef RP_ROW_CODEC_H
#define RP_ROW_CODEC_H

#include "cdc/codec/cdc.h"
#include "cdc/codec/rows.h"

/* What a payload holds. */
struct rp_row_chunk {
    bool is_cdc;
    struct rp_row_tables tables; /* of raw and gzip */
    struct rp_cdc_chunk cdc;     /* of cdc */
};

void rp_row_chunk_free(struct rp_row_chunk *chunk);

struct rp_row_codec {
    uint8_t id;
    const char *name;
    /* Appends the payload; *row_count of tables, where polls were joined, and *raw, the length
     * before general-purpose compression. */
    enum rp_status (*encode)(struct rp_row_coder *coder, const struct rp_row *rows, size_t count,
                             struct rp_buffer *out, size_t *row_count, uint64_t *raw);
    /* At most `most` rows. */
    enum rp_status (*decode)(const uint8_t *bytes, size_t length, size_t raw, size_t most,
                             struct rp_buffer *scratch, struct rp_row_chunk *out,
                             struct rp_problem *why);
};

/* NULL if there is none. */
const struct rp_row_codec *rp_row_codec_by_id(uint8_t id);
const struct rp_row_codec *rp_row_codec_by_name(const char *name);

/* How many rows it has, and what these say. */
struct rp_row_sum {
    uint64_t rows, messages, polls;
};
void rp_row_chunk_sum(const struct rp_row_chunk *chunk, struct rp_row_sum *sum);

/* Whether all its sites, and all senders, are below these numbers. */
bool rp_row_chunk_fits(const struct rp_row_chunk *chunk, size_t sites, uint32_t ranks);

#endif
