/* SPDX-License-Identifier: MIT */
/*
 * A binary range coder in integers: [low, high] is the part of all strings that is still open; a
 * bit takes its share of it, and the bytes in which both ends agree are done with. A string ends
 * with one byte that lies in the part; what is missing behind it reads as zero.
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
    uint32_t code;      /* reading: the next four bytes, as far as they are there */
    uint8_t *at;        /* the next byte to write or to read */
    const uint8_t *end; /* of what is read */
    size_t missing;     /* bytes that were read behind the end */
};

/* Before the first bit; `at` is the caller's to set, and to move between bits. A bit takes no more
 * than four bytes. */
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

/* Ends the string. */
static inline void rp_range_finish(struct rp_range *range)
{
    *range->at++ = (uint8_t)((range->low >> 24) + 1);
}

/* Of the four bytes that are read ahead the last string byte is there. */
enum { RP_RANGE_MISSING = 3 };

/* Whether what was read is a whole string, and all of it. */
static inline bool rp_range_is_whole(const struct rp_range *range)
{
    return range->at == range->end && range->missing == RP_RANGE_MISSING;
}

#endif
