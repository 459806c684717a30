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

/* Returns the packed size of `bytes` bytes, a multiple of eight, in these lanes. */
size_t rp_byte_planes_size(size_t bytes, unsigned lanes);

/* Returns how many bytes a content of `packed` bytes in these lanes unpacks to; 0 if it is of no
 * such size. */
size_t rp_byte_planes_bytes(size_t packed, unsigned lanes);

void rp_byte_planes_pack(uint8_t *packed, const uint8_t *bytes, size_t count, unsigned lanes);

/* Unpacks `count` bytes. The bytes of all other lanes stay as they are. */
void rp_byte_planes_unpack(uint8_t *bytes, const uint8_t *packed, size_t count, unsigned lanes);

#endif
