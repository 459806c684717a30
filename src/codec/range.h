/* SPDX-License-Identifier: MIT */
/*
 * A binary range coder in integers. [low, high] is the interval of strings that are still possible;
 * each bit narrows it. Bytes in which both ends agree are final. A string ends with one byte inside
 * the interval; missing bytes behind it read as zero.
 */
#ifndef RP_RANGE_H
#define RP_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Probabilities are in units of 2^-16, from 1 to 65535. */
enum { RP_RANGE_ONE = 1 << 16, RP_RANGE_HALF = 1 << 15 };

struct rp_range {
    uint32_t low, high;
    uint32_t code;      /* reading: the next four bytes; those behind the end are zero */
    uint8_t *at;        /* the next byte to write or to read */
    const uint8_t *end; /* the end of the bytes to read */
    size_t missing;     /* how many bytes were read behind the end */
};

/* Prepares `range` for the first bit. The caller sets `at`, and may move it between bits. A bit
 * takes at most four bytes. */
static inline void rp_range_start(struct rp_range *range)
{
    *range = (struct rp_range){.high = UINT32_MAX};
}

static inline uint8_t rp_range_next(struct rp_range *range)
{
    if (range->at < range->end)
        return *range->at++;
    range->missing++;
    return 0;
}

static inline void rp_range_read_from(struct rp_range *range, const uint8_t *bytes, size_t length)
{
    *range = (struct rp_range){.high = UINT32_MAX,
                               .at = (uint8_t *)(uintptr_t)bytes,
                               .end = bytes + length};
    for (int i = 0; i < 4; i++)
        range->code = range->code << 8 | rp_range_next(range);
}

/* Codes one bit, which is 1 with this probability: writes `bit`, or reads and returns it. */
static inline bool rp_range_bit(struct rp_range *range, uint32_t probability, bool bit,
                                const bool reading)
{
    uint32_t open = range->high - range->low;
    uint32_t middle = range->low + (uint32_t)((uint64_t)open * probability >> 16);

    if (reading)
        bit = range->code <= middle;
    if (bit)
        range->high = middle;
    else
        range->low = middle + 1;
    while (((range->low ^ range->high) & 0xff000000) == 0) {
        if (reading)
            range->code = range->code << 8 | rp_range_next(range);
        else
            *range->at++ = (uint8_t)(range->high >> 24);
        range->low <<= 8;
        range->high = range->high << 8 | 0xff;
    }
    return bit;
}

/* Writes the last byte of the string. */
static inline void rp_range_finish(struct rp_range *range)
{
    *range->at++ = (uint8_t)((range->low >> 24) + 1);
}

/* Reading, the coder is four bytes ahead: at the end of the string, three of them are missing. */
enum { RP_RANGE_MISSING = 3 };

/* Returns whether the bytes were exactly one complete string. */
static inline bool rp_range_is_whole(const struct rp_range *range)
{
    return range->at == range->end && range->missing == RP_RANGE_MISSING;
}

#endif
