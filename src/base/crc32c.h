/* SPDX-License-Identifier: MIT */
#ifndef RP_CRC32C_H
#define RP_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CRC-32C of the bytes. */
uint32_t rp_crc32c(const void *bytes, size_t length);

/* Of those with the given CRC, and these behind them. */
uint32_t rp_crc32c_more(uint32_t crc, const void *bytes, size_t length);

/* For tests: as on processors that have no instruction for it. */
extern bool rp_crc32c_only_tables;

#endif
