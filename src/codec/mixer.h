/* SPDX-License-Identifier: MIT */
/*
 * Adaptive probabilities of bits, mixed from several contexts. Integers only: the same on every machine.
 *
 * A symbol is coded in a few bits, each at a node of a small tree. For every context a *line* holds one probability for each node, found by a hash of the context.
 * What the lines say is brought into the logistic domain, weighed and added; the weights learn which contexts are to be believed at this node. docs/format.md
 * gives every constant, since a decoder must have the same.
 */
#ifndef RP_MIXER_H
#define RP_MIXER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "codec/range.h"

enum { RP_MIXER_CONTEXTS = 8, RP_MIXER_LINE_BITS = 11, RP_MIXER_NODES = 15, RP_MIXER_SETS = 20 * 256 };
enum { RP_MIXER_LIMIT = 80, RP_MIXER_RATE = 13, RP_MIXER_UNIT = 1 << 16 };
enum { RP_MIXER_FIRST_WEIGHT = RP_MIXER_UNIT * 3 / 10, RP_MIXER_MOST = 2047 };

/* For measurements: what a bit of a set was given as its probability. */
#ifndef RP_MIXER_TELL
#define RP_MIXER_TELL(set, probability, bit, reading)
#endif

struct rp_mixer_line {
    uint32_t check;                 /* the hash that it belongs to; 0: none */
    uint32_t nodes[RP_MIXER_NODES]; /* probability of 1 in 22 bits, then the times that it was seen in 10 */
};

struct rp_mixer {
    struct rp_mixer_line lines[RP_MIXER_CONTEXTS][1 << RP_MIXER_LINE_BITS];
    int32_t weights[RP_MIXER_SETS][RP_MIXER_CONTEXTS];
};

/* Fixed tables: probability in 12 bits -> logistic domain, logistic domain + 2048 -> probability in 16 bits, times seen -> step in units of 2^-16. */
extern int16_t rp_mixer_stretch[4096];
extern uint16_t rp_mixer_squash[4096];
extern uint16_t rp_mixer_step[RP_MIXER_LIMIT + 1];

/* Makes the tables, once. */
void rp_mixer_start(void);

/* Forgets everything. */
void rp_mixer_reset(struct rp_mixer *mixer);

/* One symbol's lines. */
struct rp_mixer_place {
    struct rp_mixer_line *lines[RP_MIXER_CONTEXTS];
};

static inline struct rp_mixer_line *rp_mixer_line(struct rp_mixer *mixer, int context, uint32_t hash)
{
    struct rp_mixer_line *line = &mixer->lines[context][hash >> (32 - RP_MIXER_LINE_BITS)];

    hash |= 1;
    if (__builtin_expect(line->check != hash, 0)) {
        line->check = hash;
        for (int i = 0; i < RP_MIXER_NODES; i++)
            line->nodes[i] = UINT32_C(1) << 31;
    }
    return line;
}

static inline int32_t rp_mixer_clip(int32_t value)
{
    return value > RP_MIXER_MOST ? RP_MIXER_MOST : value < -RP_MIXER_MOST ? -RP_MIXER_MOST : value;
}

/* Codes a bit at a node of the place; `contexts` lines of it count. */
static inline bool rp_mixer_bit(struct rp_mixer *mixer, struct rp_range *range, const struct rp_mixer_place *place, const int contexts, uint32_t node, uint32_t set,
                                bool bit, const bool reading)
{
    int32_t *weights = mixer->weights[set], said[RP_MIXER_CONTEXTS] = {0};
    int64_t sum = 0;

    for (int i = 0; i < contexts; i++) {
        said[i] = rp_mixer_stretch[place->lines[i]->nodes[node] >> 20];
        sum += (int64_t)weights[i] * said[i];
    }
    uint32_t probability = rp_mixer_squash[rp_mixer_clip((int32_t)(sum >> 16)) + 2048];
    bit = rp_range_bit(range, probability, bit, reading);
    RP_MIXER_TELL(set, probability, bit, reading);

    int32_t error = (bit ? RP_RANGE_ONE - 1 : 0) - (int32_t)probability;
    for (int i = 0; i < contexts; i++) {
        uint32_t *slot = &place->lines[i]->nodes[node], seen = *slot & 1023;
        int32_t now = (int32_t)(*slot >> 10), wanted = bit ? (1 << 22) - 1 : 0;
        weights[i] += (said[i] * error + (1 << (RP_MIXER_RATE - 1))) >> RP_MIXER_RATE;
        now += (int32_t)((int64_t)(wanted - now) * rp_mixer_step[seen] >> 16);
        *slot = (uint32_t)now << 10 | (seen < RP_MIXER_LIMIT ? seen + 1 : seen);
    }
    return bit;
}

#endif
