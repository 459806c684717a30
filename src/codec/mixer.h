/* SPDX-License-Identifier: MIT */
/*
 * Adaptive probabilities of bits, mixed from several contexts. All arithmetic is on integers, so it
 * is the same on every machine.
 *
 * A symbol is coded in a few bits, each at a node of a small tree. For every context, a *line*
 * holds one probability for each node; a hash of the context finds the line. Where the first
 * context's line is nearly certain of a bit, its probability alone is used, and the other lines
 * need not be found. Otherwise the probabilities of all lines are brought into the logistic domain,
 * weighted and added. The weights learn which contexts predict well at this node. The loops over
 * lanes are written so that the compiler makes vector instructions of them. docs/format.md has
 * every constant, since a decoder must have the same.
 */
#ifndef RP_MIXER_H
#define RP_MIXER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "codec/range.h"

enum {
    RP_MIXER_CONTEXTS = 6,
    RP_MIXER_LANES = 8,
    RP_MIXER_LINE_BITS = 14,
    RP_MIXER_NODES = 15,
    RP_MIXER_SETS = 21 * 256
};
enum { RP_MIXER_LIMIT = 80, RP_MIXER_RATE = 15, RP_MIXER_UNIT_BITS = 14, RP_MIXER_SURE_BITS = 6 };
enum { RP_MIXER_FIRST_WEIGHT = (1 << RP_MIXER_UNIT_BITS) * 3 / 10, RP_MIXER_MOST = 2047 };

/* The difference between the hash salts of a symbol's contexts. */
#define RP_MIXER_SALT UINT64_C(0xd6e8feb86659fd93)

/* For measurements: called with the probability that the model assigned to a bit of a set. */
#ifndef RP_MIXER_TELL
#define RP_MIXER_TELL(set, probability, bit, reading) (void)(set)
#endif

struct rp_mixer_line {
    uint32_t check;                 /* the hash of its context; 0: the line is free */
    uint32_t nodes[RP_MIXER_NODES]; /* probability of 1 in 25 bits, then the times that it was seen
                                       in 7 */
};

struct rp_mixer {
    struct rp_mixer_line lines[1 << RP_MIXER_LINE_BITS];
    int32_t weights[RP_MIXER_SETS][RP_MIXER_LANES];
};

/* Fixed tables: probability in 12 bits -> logistic domain, logistic domain + 2048 -> probability in
 * 16 bits, times seen -> step in units of 2^-16. */
extern int16_t rp_mixer_stretch[4096];
extern uint16_t rp_mixer_squash[4096];
extern uint16_t rp_mixer_step[128];

/* Makes the tables, once. */
void rp_mixer_start(void);

/* Forgets everything. */
void rp_mixer_reset(struct rp_mixer *mixer);

static inline struct rp_mixer_line *rp_mixer_line(struct rp_mixer *mixer, uint64_t word,
                                                  uint64_t salt)
{
    uint32_t hash = (uint32_t)((word ^ salt) * UINT64_C(0x9e3779b97f4a7c15) >> 32) | 1;
    struct rp_mixer_line *line = &mixer->lines[hash >> (32 - RP_MIXER_LINE_BITS)];

    if (__builtin_expect(line->check != hash, 0)) {
        line->check = hash;
        for (int i = 0; i < RP_MIXER_NODES; i++)
            line->nodes[i] = UINT32_C(1) << 31;
    }
    return line;
}

/* Returns a node after it has learned a bit; `wanted` is 32767 for 1, and 0 for 0. */
static inline uint32_t rp_mixer_learn(uint32_t node, int32_t wanted, int32_t step)
{
    uint32_t change = (uint32_t)((wanted - (int32_t)(node >> 17)) * step) << 1;

    return node + (change & ~UINT32_C(127)) + ((node & 127) < RP_MIXER_LIMIT);
}

/* Returns whether 1 or 0 has a probability below 1/64. */
static inline bool rp_mixer_is_sure(uint32_t node)
{
    return node + (UINT32_C(1) << (32 - RP_MIXER_SURE_BITS)) < UINT32_C(2)
                                                                   << (32 - RP_MIXER_SURE_BITS);
}

/* Codes a bit by one node alone. */
static inline bool rp_mixer_sure_bit(struct rp_range *range, uint32_t *node, uint32_t set, bool bit,
                                     const bool reading)
{
    uint32_t probability = *node >> 16 ? *node >> 16 : 1;

    bit = rp_range_bit(range, probability, bit, reading);
    RP_MIXER_TELL(set, probability, bit, reading);
    *node = rp_mixer_learn(*node, bit ? 32767 : 0, rp_mixer_step[*node & 127]);
    return bit;
}

static inline int32_t rp_mixer_clip(int32_t value)
{
    return value > RP_MIXER_MOST ? RP_MIXER_MOST : value < -RP_MIXER_MOST ? -RP_MIXER_MOST : value;
}

/* Codes a bit by the same node of all lines. Where two contexts share a line, the later one's
 * change counts. */
static inline bool rp_mixer_bit(struct rp_mixer *mixer, struct rp_range *range,
                                struct rp_mixer_line *const *lines, uint32_t node, uint32_t set,
                                bool bit, const bool reading)
{
    int32_t *weights = mixer->weights[set], said[RP_MIXER_LANES] = {0}, steps[RP_MIXER_LANES] = {0};
    uint32_t nodes[RP_MIXER_LANES] = {0}, sum = 0;

    for (int i = 0; i < RP_MIXER_CONTEXTS; i++) {
        nodes[i] = lines[i]->nodes[node];
        said[i] = rp_mixer_stretch[nodes[i] >> 20];
        steps[i] = rp_mixer_step[nodes[i] & 127];
    }
    for (int i = 0; i < RP_MIXER_LANES; i++)
        sum += (uint32_t)weights[i] * (uint32_t)said[i];
    uint32_t probability =
        rp_mixer_squash[rp_mixer_clip((int32_t)sum >> RP_MIXER_UNIT_BITS) + 2048];
    bit = rp_range_bit(range, probability, bit, reading);
    RP_MIXER_TELL(set, probability, bit, reading);

    int32_t error = (bit ? RP_RANGE_ONE - 1 : 0) - (int32_t)probability, wanted = bit ? 32767 : 0;
    for (int i = 0; i < RP_MIXER_LANES; i++)
        weights[i] =
            (int32_t)((uint32_t)weights[i] +
                      (uint32_t)((said[i] * error + (1 << (RP_MIXER_RATE - 1))) >> RP_MIXER_RATE));
    for (int i = 0; i < RP_MIXER_LANES; i++)
        nodes[i] = rp_mixer_learn(nodes[i], wanted, steps[i]);
    for (int i = 0; i < RP_MIXER_CONTEXTS; i++)
        lines[i]->nodes[node] = nodes[i];
    return bit;
}

#endif
