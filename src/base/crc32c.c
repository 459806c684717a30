/* SPDX-License-Identifier: MIT */
/* CRC-32C by eight tables (eight bytes a step), made at first use. */
#include "base/crc32c.h"

#include <pthread.h>

#include "base/buffer.h"

static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
        table[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int t = 1; t < 8; t++)
            table[t][i] = table[t - 1][i] >> 8 ^ table[0][table[t - 1][i] & 0xff];
}

uint32_t rp_crc32c(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    uint32_t crc = UINT32_MAX;

    pthread_once(&once, make_tables);
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word = rp_load_u64(at) ^ crc;
        crc = 0;
        for (int t = 0; t < 8; t++)
            crc ^= table[7 - t][word >> (8 * t) & 0xff];
    }
    for (; length > 0; at++, length--)
        crc = crc >> 8 ^ table[0][(crc ^ *at) & 0xff];
    return ~crc;
}
