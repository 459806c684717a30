/* SPDX-License-Identifier: MIT */
/* Codecs of rows turn rows in the order of time into the payload of a ROWS chunk, and back, as
 * those of codec.h do with events. */
#ifndef RP_ROW_CODEC_H
#define RP_ROW_CODEC_H

#include "cdc/codec/cdc.h"
#include "cdc/codec/rows.h"

/* The content of a payload. */
struct rp_row_chunk {
    bool is_cdc;
    struct rp_row_tables tables; /* for raw and gzip */
    struct rp_cdc_chunk cdc;     /* for cdc */
};

void rp_row_chunk_free(struct rp_row_chunk *chunk);

struct rp_row_codec {
    uint8_t id;
    const char *name;
    /* Appends the payload. Sets *row_count to the rows of the tables, in which polls are joined,
     * and *raw to the length before general-purpose compression. */
    enum rp_status (*encode)(struct rp_row_coder *coder, const struct rp_row *rows, size_t count,
                             struct rp_buffer *out, size_t *row_count, uint64_t *raw);
    /* Decodes at most `most` rows. */
    enum rp_status (*decode)(const uint8_t *bytes, size_t length, size_t raw, size_t most,
                             struct rp_buffer *scratch, struct rp_row_chunk *out,
                             struct rp_problem *why);
};

/* These return NULL if there is no such codec. */
const struct rp_row_codec *rp_row_codec_by_id(uint8_t id);
const struct rp_row_codec *rp_row_codec_by_name(const char *name);

/* How many rows a chunk has, and how many messages and polls these stand for. */
struct rp_row_sum {
    uint64_t rows, messages, polls;
};
void rp_row_chunk_sum(const struct rp_row_chunk *chunk, struct rp_row_sum *sum);

/* Returns whether all sites in the chunk are below `sites`, and all senders below `ranks`. */
bool rp_row_chunk_fits(const struct rp_row_chunk *chunk, size_t sites, uint32_t ranks);

#endif
