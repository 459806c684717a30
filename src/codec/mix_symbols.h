/* SPDX-License-Identifier: MIT */
/*
 * How codec `mix` codes flags, numbers and places of lists: as a few bits each, whose probabilities
 * come from mixed contexts (codec/mixer.h). Every function takes the value to write, and returns
 * the value that was written or read.
 */
#ifndef RP_MIX_SYMBOLS_H
#define RP_MIX_SYMBOLS_H

#include "codec/mix_model.h"

/* What the contexts of a symbol are made of, besides the state. Six hashes are made of it; the
 * first alone must predict what is nearly certain. */
struct about {
    const struct shape *shape;
    uint32_t id;
    const struct rp_event *event;
};

typedef void contexts_of(const struct mix *m, const struct about *about, uint64_t *words);

struct symbol {
    struct mix *m;
    const struct about *about;
    contexts_of *contexts;
    enum field field;
    uint64_t salt;
    bool all; /* all lines were looked up, not only the first */
    struct rp_mixer_line *lines[RP_MIXER_CONTEXTS];
};

INLINE struct symbol start_salted(struct mix *m, const struct about *about, contexts_of *contexts,
                                  enum field field, uint32_t salt)
{
    struct symbol symbol = {.m = m,
                            .about = about,
                            .contexts = contexts,
                            .field = field,
                            .salt = salt * (8 * RP_MIXER_SALT)};
    uint64_t words[RP_MIXER_CONTEXTS];

    contexts(m, about, words);
    symbol.lines[0] = rp_mixer_line(&m->mixer, words[0], symbol.salt);
    return symbol;
}

INLINE struct symbol start_symbol(struct mix *m, const struct about *about, contexts_of *contexts,
                                  enum field field)
{
    return start_salted(m, about, contexts, field, field);
}

APART void find_lines(struct mix *m, const uint64_t *words, uint64_t salt,
                      struct rp_mixer_line **lines)
{
    for (int i = 1; i < RP_MIXER_CONTEXTS; i++)
        lines[i] = rp_mixer_line(&m->mixer, words[i], salt += RP_MIXER_SALT);
}

APART bool write_mixed(struct mix *m, struct rp_mixer_line *const *lines, uint32_t node,
                       uint32_t set, bool bit)
{
    return rp_mixer_bit(&m->mixer, &m->range, lines, node, set, bit, false);
}

APART bool read_mixed(struct mix *m, struct rp_mixer_line *const *lines, uint32_t node,
                      uint32_t set)
{
    return rp_mixer_bit(&m->mixer, &m->range, lines, node, set, false, true);
}

INLINE bool code_in_set(struct symbol *symbol, uint32_t node, uint32_t part, uint32_t place,
                        bool bit, const bool reading)
{
    struct mix *m = symbol->m;
    uint32_t set = (((uint32_t)symbol->field * 2 + part) * 16 + place) * 8 + (m->history[0] & 7);

    if (!symbol->all) {
        uint32_t *slot = &symbol->lines[0]->nodes[node];
        if (rp_mixer_is_sure(*slot))
            return rp_mixer_sure_bit(&m->range, slot, set, bit, reading);
        uint64_t words[RP_MIXER_CONTEXTS];
        symbol->contexts(m, symbol->about, words);
        find_lines(m, words, symbol->salt, symbol->lines);
        symbol->all = true;
    }
    return reading ? read_mixed(m, symbol->lines, node, set)
                   : write_mixed(m, symbol->lines, node, set, bit);
}

INLINE bool code_at(struct symbol *symbol, uint32_t node, uint32_t part, bool bit,
                    const bool reading)
{
    return code_in_set(symbol, node, part, node, bit, reading);
}

/* A tree of up to four bits, whose nodes begin at `node`. */
INLINE uint32_t code_tree(struct symbol *symbol, uint32_t node, uint32_t part, int bits,
                          uint32_t value, const bool reading)
{
    uint32_t prefix = 1;

    for (int i = bits - 1; i >= 0; i--)
        prefix = prefix << 1 | code_at(symbol, node + prefix - 1, part, value >> i & 1, reading);
    return prefix - (UINT32_C(1) << bits);
}

/* Codes bits without a prediction. */
APART uint64_t code_plain(struct mix *m, int bits, uint64_t value, const bool reading)
{
    uint64_t result = 0;

    for (int i = bits - 1; i >= 0; i--)
        result = result << 1 | rp_range_bit(&m->range, RP_RANGE_HALF, value >> i & 1, reading);
    return result;
}

/* Codes a number from 1 on whose length is known: the bits below its first one, twelve of them by
 * contexts. */
INLINE uint64_t code_below_first(const struct symbol *symbol, int length, uint64_t value,
                                 const bool reading)
{
    uint64_t result = 1;
    int left = length - 1;

    for (int part = 0; left > 0 && part < 3; part++) {
        int bits = left < 4 ? left : 4;
        struct symbol below =
            start_salted(symbol->m, symbol->about, symbol->contexts, symbol->field,
                         (uint32_t)symbol->field + 32 + 64 * (uint32_t)length +
                             (part ? 4096 * (uint32_t)(result + 1) : 0));
        left -= bits;
        result =
            result << bits | code_tree(&below, 0, 1, bits, (uint32_t)(value >> left) & 15, reading);
    }
    if (left > 0)
        result = result << left | code_plain(symbol->m, left, value, reading);
    return result;
}

/* Codes a number that its first line does not predict: the length by nodes from `node` on, as far
 * as there are some. */
APART uint64_t code_large(struct symbol *symbol, uint32_t node, uint64_t value, const bool reading)
{
    int length = reading ? 1 : 64 - __builtin_clzll(value), known = 1,
        most = RP_MIXER_NODES - (int)node;

    while (known <= most && code_at(symbol, node + (uint32_t)known - 1, 0, length > known, reading))
        known++;
    if (known > most)
        known += (int)code_plain(symbol->m, 6, (uint64_t)(length - known), reading);
    if (reading)
        length = known > 64 ? 64 : known;
    return code_below_first(symbol, length, value, reading);
}

/* Any number, small ones likely: 0, 1, one of four, or larger. */
INLINE uint64_t code_number(struct mix *m, const struct about *about, contexts_of *contexts,
                            enum field field, uint64_t value, const bool reading)
{
    struct symbol symbol = start_symbol(m, about, contexts, field);

    if (!code_at(&symbol, 0, 0, value > 0, reading))
        return 0;
    if (!code_at(&symbol, 1, 0, value > 1, reading))
        return 1;
    if (!code_at(&symbol, 2, 0, value > 5, reading))
        return 2 + code_tree(&symbol, 3, 0, 2, (uint32_t)value - 2, reading);
    return 5 + code_large(&symbol, 6, value - 5, reading);
}

INLINE bool code_flag(struct mix *m, const struct about *about, contexts_of *contexts,
                      enum field field, bool value, const bool reading)
{
    struct symbol symbol = start_symbol(m, about, contexts, field);

    return code_at(&symbol, 0, 0, value, reading);
}

/* Lists */

/* How much more frequent than the value in front of it a value must be to change places with it.
 * Values that move often are predicted badly. */
enum { MARGIN = 8 };

INLINE bool is_listed(const struct list *list, uint32_t place)
{
    return place < LISTED && list->counts[place] > 0;
}

/* Codes the place of the value in the list, one bit for each place: is it this one? A value that is
 * not listed gets the first free place. */
INLINE uint32_t code_place(struct symbol *symbol, const struct list *list, uint32_t value,
                           const bool reading)
{
    uint32_t place = 0;

    while (is_listed(list, place) && !code_in_set(symbol, list->values[place] % RP_MIXER_NODES, 0,
                                                  place, value == list->values[place], reading))
        place++;
    return place;
}

INLINE void swap_places(struct list *list, uint32_t one, uint32_t other)
{
    uint16_t value = list->values[one], count = list->counts[one];

    list->values[one] = list->values[other];
    list->counts[one] = list->counts[other];
    list->values[other] = value;
    list->counts[other] = count;
}

INLINE void count_place(struct list *list, uint32_t place, uint32_t value)
{
    if (!is_listed(list, place)) {
        place = place < LISTED ? place : LISTED - 1;
        list->values[place] = (uint16_t)value;
        list->counts[place] = 1;
        return;
    }
    list->counts[place] += list->counts[place] < UINT16_MAX;
    if (place > 0 && list->counts[place] > list->counts[place - 1] + MARGIN)
        swap_places(list, place, place - 1);
}

INLINE uint64_t fold(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

INLINE int64_t unfold(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

/* Codes a signed number of 32 bits. Small numbers from 0 on take few bits. */
INLINE int32_t code_signed(struct mix *m, const struct about *about, contexts_of *contexts,
                           enum field field, int32_t value, const bool reading)
{
    return (int32_t)(uint32_t)unfold(code_number(m, about, contexts, field, fold(value), reading));
}

#endif
