/* SPDX-License-Identifier: MIT */
#include "cdc/codec/deflate.h"

#include <zlib.h>

/* A byte of deflate expands to at most 1,032: see zlib's documentation. */
enum { LEVEL = 6, BEST = 1032 };

enum rp_status rp_deflate(const uint8_t *bytes, size_t length, struct rp_buffer *out)
{
    uLongf made = compressBound(length);

    if (!rp_buffer_reserve(out, made))
        return RP_MEMORY;
    if (compress2(out->bytes + out->length, &made, bytes, length, LEVEL) != Z_OK)
        return RP_MEMORY; /* with enough room, compress2 fails for no other reason */
    out->length += made;
    return RP_OK;
}

enum rp_status rp_inflate(const uint8_t *bytes, size_t length, size_t raw, struct rp_buffer *out,
                          struct rp_problem *why)
{
    uLong used = length;
    uLongf made = raw;

    rp_buffer_clear(out);
    if (raw / BEST > length)
        return rp_fail(why, RP_DAMAGED, "%zu bytes cannot be %zu bytes deflated", length, raw);
    if (!rp_buffer_reserve(out, raw + 1))
        return rp_fail(why, RP_MEMORY, "out of memory");
    int code = uncompress2(out->bytes, &made, bytes, &used);
    if (code == Z_MEM_ERROR)
        return rp_fail(why, RP_MEMORY, "out of memory");
    if (code != Z_OK || made != raw || used != length)
        return rp_fail(why, RP_DAMAGED, "zlib: %s",
                       code != Z_OK ? zError(code) : "not the length that it should have");
    out->length = made;
    return RP_OK;
}
