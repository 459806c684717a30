/* SPDX-License-Identifier: MIT */
/* zlib at level 6, one whole chunk a call. */
#ifndef RP_DEFLATE_H
#define RP_DEFLATE_H

#include "base/buffer.h"
#include "base/status.h"

/* Appends the compressed bytes to `out`. */
enum rp_status rp_deflate(const uint8_t *bytes, size_t length, struct rp_buffer *out);

/* Replaces the content of `out` by the `raw` decompressed bytes. RP_DAMAGED: these are not exactly
 * `raw`. Allocates no more than zlib can make of `length` bytes. */
enum rp_status rp_inflate(const uint8_t *bytes, size_t length, size_t raw, struct rp_buffer *out,
                          struct rp_problem *why);

#endif
