/* SPDX-License-Identifier: MIT */
/* CRC-32C by the processor's instruction, or where it has none by eight tables (eight bytes a step), made at first use. */
#include "base/crc32c.h"

#include <pthread.h>
#include <string.h>

#include "base/buffer.h"

__attribute__((unused)) static uint64_t word_at(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

#if defined(__x86_64__)
#include <immintrin.h>

static bool has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *at, size_t length)
{
    for (; length >= 8; at += 8, length -= 8)
        crc = (uint32_t)_mm_crc32_u64(crc, word_at(at));
    for (; length > 0; at++, length--)
        crc = _mm_crc32_u8(crc, *at);
    return crc;
}
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <asm/hwcap.h>
#include <sys/auxv.h>

static bool has_instruction(void)
{
    return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

/* The compilers name their functions for it differently. */
static uint32_t by_instruction(uint32_t crc, const uint8_t *at, size_t length)
{
    for (; length >= 8; at += 8, length -= 8)
        __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word_at(at)));
    for (; length > 0; at++, length--)
        __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((uint32_t)*at));
    return crc;
}
#else
static bool has_instruction(void)
{
    return false;
}

static uint32_t by_instruction(uint32_t crc, const uint8_t *at, size_t length)
{
    (void)at, (void)length;
    return crc;
}
#endif

bool rp_crc32c_only_tables;

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

static uint32_t by_tables(uint32_t crc, const uint8_t *at, size_t length)
{
    pthread_once(&once, make_tables);
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word = rp_load_u64(at) ^ crc;
        crc = 0;
        for (int t = 0; t < 8; t++)
            crc ^= table[7 - t][word >> (8 * t) & 0xff];
    }
    for (; length > 0; at++, length--)
        crc = crc >> 8 ^ table[0][(crc ^ *at) & 0xff];
    return crc;
}

uint32_t rp_crc32c(const void *bytes, size_t length)
{
    return ~(has_instruction() && !rp_crc32c_only_tables ? by_instruction : by_tables)(UINT32_MAX, bytes, length);
}
