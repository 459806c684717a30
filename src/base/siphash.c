/* SPDX-License-Identifier: MIT */
#include "base/siphash.h"

struct state {
    uint64_t v0, v1, v2, v3;
};

static uint64_t turn(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t little(const uint8_t *bytes, size_t length)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void mix(struct state *s, int rounds)
{
    while (rounds-- > 0) {
        s->v0 += s->v1;
        s->v2 += s->v3;
        s->v1 = turn(s->v1, 13) ^ s->v0;
        s->v3 = turn(s->v3, 16) ^ s->v2;
        s->v0 = turn(s->v0, 32);
        s->v2 += s->v1;
        s->v0 += s->v3;
        s->v1 = turn(s->v1, 17) ^ s->v2;
        s->v3 = turn(s->v3, 21) ^ s->v0;
        s->v2 = turn(s->v2, 32);
    }
}

static void take(struct state *s, uint64_t word)
{
    s->v3 ^= word;
    mix(s, 2);
    s->v0 ^= word;
}

uint64_t rp_siphash(const uint8_t key[16], const void *bytes, size_t length)
{
    uint64_t low = little(key, 8), high = little(key + 8, 8);
    struct state s = {low ^ UINT64_C(0x736f6d6570736575), high ^ UINT64_C(0x646f72616e646f6d),
                      low ^ UINT64_C(0x6c7967656e657261), high ^ UINT64_C(0x7465646279746573)};
    const uint8_t *at = bytes;
    size_t left = length;

    for (; left >= 8; at += 8, left -= 8)
        take(&s, little(at, 8));
    take(&s, little(at, left) | (uint64_t)length << 56);
    s.v2 ^= 0xff;
    mix(&s, 4);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
