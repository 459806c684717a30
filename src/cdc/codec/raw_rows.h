/* SPDX-License-Identifier: MIT */
/*
 * Codecs `raw` and `gzip`: the tables of the paper's figure 4 as they are, 162 bits a row
 * (section 6.1), and the same through zlib. What the paper's table has no column for stands behind
 * it: indices of requests, threads of polls, OTHER rows. docs/format.md, section 3.
 */
#ifndef RP_RAW_ROWS_H
#define RP_RAW_ROWS_H

#include "cdc/codec/rows.h"

/* Append the payload to `out`. `sizes` may be NULL; the length before general-purpose compression
 * is sizes->before, of raw the same as after. */
enum rp_status rp_raw_encode(struct rp_row_coder *coder, const struct rp_row_tables *tables,
                             struct rp_buffer *out, struct rp_row_sizes *sizes);
enum rp_status rp_gzip_encode(struct rp_row_coder *coder, const struct rp_row_tables *tables,
                              struct rp_buffer *out, struct rp_row_sizes *sizes);

/* The tables, of at most `most` rows; the caller frees them. Hostile bytes are RP_DAMAGED and
 * allocate no more than `most` rows and `raw` bytes can justify. */
enum rp_status rp_raw_decode(const uint8_t *bytes, size_t length, size_t most,
                             struct rp_row_tables *out, struct rp_problem *why);
enum rp_status rp_gzip_decode(const uint8_t *bytes, size_t length, size_t raw, size_t most,
                              struct rp_buffer *scratch, struct rp_row_tables *out,
                              struct rp_problem *why);

#endif
