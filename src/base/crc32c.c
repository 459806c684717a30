/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C by the processor's instruction, or where it has none by eight tables (eight bytes a
 * step).
 *
 * Each instruction waits for the one before it, but the processor can work on three at a time. So
 * long stretches are computed as three interleaved checksums, which are then joined. To join them,
 * one needs the effect of so many zero bytes on a checksum. It is linear, and looked up for each
 * byte of the checksum. Tables are made at first use.
 */
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

#define HAS_INSTRUCTION
#define BY_INSTRUCTION __attribute__((target("sse4.2")))

static bool has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2");
}

BY_INSTRUCTION static inline uint32_t add_byte(uint32_t crc, uint8_t byte)
{
    return _mm_crc32_u8(crc, byte);
}

BY_INSTRUCTION static inline uint32_t add_word(uint32_t crc, uint64_t word)
{
    return (uint32_t)_mm_crc32_u64(crc, word);
}
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <asm/hwcap.h>
#include <sys/auxv.h>

#define HAS_INSTRUCTION
#define BY_INSTRUCTION

static bool has_instruction(void)
{
    return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

/* gcc and clang have different names for the same intrinsic. */
static inline uint32_t add_byte(uint32_t crc, uint8_t byte)
{
    __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((uint32_t)byte));
    return crc;
}

static inline uint32_t add_word(uint32_t crc, uint64_t word)
{
    __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
    return crc;
}
#endif

#ifdef HAS_INSTRUCTION
enum { STRETCH = 1024 };

/* The effect of STRETCH zero bytes on each byte of a checksum. */
static uint32_t after_zeros[4][256];
static pthread_once_t zeros_once = PTHREAD_ONCE_INIT;

BY_INSTRUCTION static void make_after_zeros(void)
{
    for (int bit = 0; bit < 32; bit++) {
        uint32_t crc = UINT32_C(1) << bit;
        for (int i = 0; i < STRETCH; i += 8)
            crc = add_word(crc, 0);
        for (int value = 0; value < 256; value++)
            if (value >> bit % 8 & 1)
                after_zeros[bit / 8][value] ^= crc;
    }
}

static inline uint32_t skip(uint32_t crc)
{
    return after_zeros[0][crc & 0xff] ^ after_zeros[1][crc >> 8 & 0xff] ^
           after_zeros[2][crc >> 16 & 0xff] ^ after_zeros[3][crc >> 24];
}

BY_INSTRUCTION static uint32_t by_instruction(uint32_t crc, const uint8_t *at, size_t length)
{
    if (length >= 3 * STRETCH)
        pthread_once(&zeros_once, make_after_zeros);
    for (; length >= 3 * STRETCH; at += 3 * STRETCH, length -= 3 * STRETCH) {
        uint32_t second = 0, third = 0;
        for (const uint8_t *end = at + STRETCH, *from = at; from < end; from += 8) {
            crc = add_word(crc, word_at(from));
            second = add_word(second, word_at(from + STRETCH));
            third = add_word(third, word_at(from + 2 * STRETCH));
        }
        crc = skip(skip(crc) ^ second) ^ third;
    }
    for (; length >= 8; at += 8, length -= 8)
        crc = add_word(crc, word_at(at));
    for (; length > 0; at++, length--)
        crc = add_byte(crc, *at);
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

uint32_t rp_crc32c_more(uint32_t crc, const void *bytes, size_t length)
{
    return ~(has_instruction() && !rp_crc32c_only_tables ? by_instruction : by_tables)(~crc, bytes,
                                                                                       length);
}

uint32_t rp_crc32c(const void *bytes, size_t length)
{
    return rp_crc32c_more(0, bytes, length);
}
