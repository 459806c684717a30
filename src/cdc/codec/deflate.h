/* SPDX-License-Identifier: MIT */
/* zlib at level 6, as a whole chunk at once. */
#ifndef RP_DEFLATE_H
#define RP_DEFLATE_H

#include "base/buffer.h"
#include "base/status.h"

/* Appends the compressed bytes. */
enum rp_status rp_deflate(const uint8_t *bytes, size_t length, struct rp_buffer *out);

/* `out` is cleared and gets the `raw` bytes of it, exactly. Allocates no more than zlib could have
 * made of `length`. */
enum rp_status rp_inflate(const uint8_t *bytes, size_t length, size_t raw, struct rp_buffer *out,
                          struct rp_problem *why);

#endif
