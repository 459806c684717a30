/* SPDX-License-Identifier: MIT */
#ifndef RP_CRC32C_H
#define RP_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the CRC-32C of the bytes. */
uint32_t rp_crc32c(const void *bytes, size_t length);

/* Returns the CRC-32C of the bytes whose CRC-32C is `crc`, followed by these bytes. */
uint32_t rp_crc32c_more(uint32_t crc, const void *bytes, size_t length);

/* Tests set it: use the tables, as on processors that have no instruction for CRC-32C. */
extern bool rp_crc32c_only_tables;

#endif
