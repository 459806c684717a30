/* SPDX-License-Identifier: MIT */
#include "window/byte_planes.h"

enum { WORD = 8 };

static size_t lanes_in(unsigned lanes)
{
    return (size_t)__builtin_popcount(lanes & RP_LANES_ALL);
}

size_t rp_byte_planes_size(size_t bytes, unsigned lanes)
{
    return bytes / WORD * lanes_in(lanes);
}

size_t rp_byte_planes_bytes(size_t packed, unsigned lanes)
{
    size_t count = lanes_in(lanes);

    return count > 0 && packed % count == 0 ? packed / count * WORD : 0;
}

void rp_byte_planes_pack(uint8_t *packed, const uint8_t *bytes, size_t count, unsigned lanes)
{
    for (size_t lane = 0; lane < WORD; lane++)
        for (size_t at = lane; lanes >> lane & 1 && at < count; at += WORD)
            *packed++ = bytes[at];
}

void rp_byte_planes_unpack(uint8_t *bytes, const uint8_t *packed, size_t count, unsigned lanes)
{
    for (size_t lane = 0; lane < WORD; lane++)
        for (size_t at = lane; lanes >> lane & 1 && at < count; at += WORD)
            bytes[at] = *packed++;
}
