/* SPDX-License-Identifier: MIT */
/* SipHash-2-4 (Aumasson and Bernstein, 2012): a short hash that only the holder of the key can
 * compute. */
#ifndef RP_SIPHASH_H
#define RP_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t rp_siphash(const uint8_t key[16], const void *bytes, size_t length);

#endif
