/* SPDX-License-Identifier: MIT */
/*
 * Codecs `raw` and `gzip`: the tables of Clock Delta Compression (figure 4) unchanged, 162 bits a
 * row (section 6.1), and the same through zlib. What the paper's table has no column for follows:
 * indices of requests, threads of polls, OTHER rows. docs/format.md, section 3.
 */
#ifndef RP_RAW_ROWS_H
#define RP_RAW_ROWS_H

#include "cdc/codec/rows.h"

/* Append the payload of `tables` to `out`. `sizes` may be NULL; sizes->before is the length before
 * general-purpose compression, for raw the same as after. */
enum rp_status rp_raw_encode(struct rp_row_coder *coder, const struct rp_row_tables *tables,
                             struct rp_buffer *out, struct rp_row_sizes *sizes);
enum rp_status rp_gzip_encode(struct rp_row_coder *coder, const struct rp_row_tables *tables,
                              struct rp_buffer *out, struct rp_row_sizes *sizes);

/* Set *out to the tables, of at most `most` rows; the caller frees them. RP_DAMAGED: the bytes are
 * not valid. Allocations are bounded by what `most` rows and `raw` bytes can justify. */
enum rp_status rp_raw_decode(const uint8_t *bytes, size_t length, size_t most,
                             struct rp_row_tables *out, struct rp_problem *why);
enum rp_status rp_gzip_decode(const uint8_t *bytes, size_t length, size_t raw, size_t most,
                              struct rp_buffer *scratch, struct rp_row_tables *out,
                              struct rp_problem *why);

#endif
