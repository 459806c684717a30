/* SPDX-License-Identifier: MIT */
/*
 * Some bytes of each word of eight: of numbers that change a little, most bytes stay. Lane i is the
 * i-th byte of each word; `lanes` has bit i for it. Packed, one lane stands behind the other.
 */
#ifndef RP_BYTE_PLANES_H
#define RP_BYTE_PLANES_H

#include <stddef.h>
#include <stdint.h>

enum { RP_LANES_ALL = 0xff };

/* How many bytes of so many are in these lanes; bytes are a multiple of eight. */
size_t rp_byte_planes_size(size_t bytes, unsigned lanes);

/* How many bytes a packed content is of; 0: it is of none. */
size_t rp_byte_planes_bytes(size_t packed, unsigned lanes);

void rp_byte_planes_pack(uint8_t *packed, const uint8_t *bytes, size_t count, unsigned lanes);

/* The bytes of other lanes stay. */
void rp_byte_planes_unpack(uint8_t *bytes, const uint8_t *packed, size_t count, unsigned lanes);

#endif
