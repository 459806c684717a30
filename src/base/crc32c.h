/* SPDX-License-Identifier: MIT */
#ifndef RP_CRC32C_H
#define RP_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C of the bytes. */
uint32_t rp_crc32c(const void *bytes, size_t length);

#endif
