/* SPDX-License-Identifier: MIT */
/*
 * Codec `mix`: an adaptive binary range coder over mixed contexts (codec/mixer.h). docs/format.md,
 * section 3, has it to the bit; docs/codecs.md what was tried.
 *
 * An event is told field by field: first which *shape* it has (its kind and call site, together a
 * number in a list that grows as shapes appear), then scope, posts and the rest, each as a number
 * that a few bits of a small tree stand for. What makes it small are the contexts: the shapes
 * before, what the same shape said last time, what completed last, how often polls said no. Reading
 * and writing are one text, so that they cannot differ: every function takes the value to write,
 * and gives back the value that was written or read.
 *
 * Where the same three events were followed by the same event several times, one bit says that it
 * follows again. Regular programs are little else, and fast so.
 *
 * The state goes on from chunk to chunk until the writer starts afresh; a chunk says which it is.
 */
#include <stdlib.h>

#include "base/aligned.h"
#include "codec/codec.h"
#include "codec/mixer.h"

enum { MIX_ID = 2 };
enum { TRUSTED = 10, FAITHS = 16, FAITH_FIRST = (1 << 22) / 16 * 15, FAITH_SHIFT = 6 };
enum { SHAPES = 1023, SHAPE_SLOTS = 2048, NEW_KIND_BITS = 8, TABLE = 1024 };

/* Places of a list, and by how much a value must be more frequent than the one before it to take
 * its place: what moves often is learnt badly. */
enum { LISTED = 8, MARGIN = 8 };

/* An event takes less, even if every bit of it comes as a surprise of 16. */
enum { EVENT_MOST = 512 };

enum field {
    SHAPE,
    SHAPE_TREE,
    SHAPE_SITE,
    PLAIN,
    SCOPE,
    POSTS,
    GROUP,
    THREAD,
    POLLS_NEAR,
    POLLS,
    COUNT,
    CHOICE,
    CHOICE_TREE,
    CHOICE_NEGATIVE,
    TAG,
    POST_NEW,
    POST,
    REST_B,
    REST_C,
    GROWS,
    GROWTH,
    FIELDS
};

_Static_assert(FIELDS * 32 * 8 <= RP_MIXER_SETS, "a set of weights for each node of each field");

/* What a shape said the last times. */
struct shape {
    uint32_t kind, site;
    uint32_t posts;
    int32_t a[3], b;
    uint64_t c[2];
};

/* What followed three events the last time. */
struct foretold {
    uint32_t check, hits;
    uint32_t id;
    struct rp_event event; /* c less next_post where it is a post */
};

/* What came in a place, as a rule the most frequent first. */
struct list {
    uint16_t values[LISTED], counts[LISTED];
};

struct mix {
    struct rp_mixer mixer;
    struct rp_range range;
    uint32_t shape_count;
    struct shape shapes[SHAPES + 1];      /* the last is for those that the list has no room for */
    uint16_t slots[SHAPE_SLOTS];          /* shape + 1 by hash of kind and site */
    struct list shape_lists[SHAPES + 2];  /* of what follows a shape, by its number + 1 */
    struct list choice_lists[SHAPES + 2]; /* of what a shape chooses, by its number + 1 */
    uint32_t scopes[TABLE + 256]; /* the last of each site; behind them, of each kind that has none
                                     as a rule */
    int32_t tags[TABLE];          /* the last of each source */
    uint16_t
        heard_before[TABLE]; /* the entry of `tags` whose turn was before the last of each source */
    uint32_t since[TABLE];   /* polls that said no since the last yes, of each site */
    uint64_t reposted[TABLE]; /* posts made when an index of a site completed last */
    /* the events before */
    struct rp_event last;
    uint32_t history[4];    /* shapes + 1, newest first */
    uint32_t last_yes;      /* shape + 1 */
    uint32_t heard;         /* entry of `tags` of the last message */
    uint32_t last_polls;    /* class of the last count of polls */
    uint32_t difference;    /* class of the last count less the one before in its group */
    uint32_t chosen;        /* last index or source, + 1 */
    uint32_t chosen_before; /* the last ones, four bits each */
    int32_t thread;
    uint64_t posts, next_post;
    uint32_t trail[3]; /* shape and choice of the last events */
    struct foretold foretold[TABLE];
    uint32_t
        faith[FAITHS]; /* that what is foretold comes, in units of 2^-22, by how often it did */
};

#define INLINE static inline __attribute__((always_inline))
#define APART                                                                                      \
    static __attribute__((noinline)) /* so that the code stays small enough for a cache            \
                                      */

INLINE uint64_t low(uint64_t value, int bits)
{
    return value & ((UINT64_C(1) << bits) - 1);
}

INLINE uint32_t hash_of(uint64_t word, uint32_t salt)
{
    uint64_t x = (word + salt) * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(x >> 32);
}

/* Counts below 8 as they are, then two classes for each power of two. */
INLINE uint32_t class_of(uint64_t count)
{
    int bits = count < 8 ? 0 : 64 - __builtin_clzll(count);

    return count < 8 ? (uint32_t)count : (uint32_t)(8 + 2 * bits + (int)(count >> (bits - 2) & 1));
}

/* What a symbol's contexts are made of, besides the state. Of each six words are made; the first
 * alone must tell what is sure. */
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
    bool all; /* lines are found, and not the first alone */
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

/* Bits of which nothing is known. */
APART uint64_t code_plain(struct mix *m, int bits, uint64_t value, const bool reading)
{
    uint64_t result = 0;

    for (int i = bits - 1; i >= 0; i--)
        result = result << 1 | rp_range_bit(&m->range, RP_RANGE_HALF, value >> i & 1, reading);
    return result;
}

/* A number from 1 on whose length was told: the bits below its first, twelve of them by
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

/* A number that its first line does not tell: its length by nodes from `node` on, as far as there
 * are some. */
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

INLINE bool is_listed(const struct list *list, uint32_t place)
{
    return place < LISTED && list->counts[place] > 0;
}

/* Place of the value, bit by bit: is it this one? The first place that is not listed if it is
 * none. */
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

/* 32 bits with a sign, those from 0 on likely small. */
INLINE int32_t code_signed(struct mix *m, const struct about *about, contexts_of *contexts,
                           enum field field, int32_t value, const bool reading)
{
    return (int32_t)(uint32_t)unfold(code_number(m, about, contexts, field, fold(value), reading));
}

/* Shapes */

INLINE uint32_t slot_of(const struct mix *m, uint32_t kind, uint32_t site)
{
    uint32_t slot = hash_of((uint64_t)kind << 32 | site, 0) % SHAPE_SLOTS;

    while (m->slots[slot] && (m->shapes[m->slots[slot] - 1].kind != kind ||
                              m->shapes[m->slots[slot] - 1].site != site))
        slot = (slot + 1) % SHAPE_SLOTS;
    return slot;
}

/* Number of the shape; shape_count if it is not in the list. */
INLINE uint32_t find_shape(const struct mix *m, const struct rp_event *event)
{
    uint16_t found = m->slots[slot_of(m, event->kind, event->site)];

    return found ? found - 1u : m->shape_count;
}

INLINE uint32_t since_class(const struct mix *m, uint32_t shape)
{
    return shape ? class_of(m->since[m->shapes[shape - 1].site % TABLE]) : 0;
}

INLINE void shape_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    const uint32_t *h = m->history;
    uint64_t group = low((uint32_t)m->last.any.b, 5),
             before = h[0] | (uint64_t)h[1] << 10 | group << 20,
             choice = low((uint32_t)m->last.any.a, 8);
    uint64_t poll =
        h[0] | (uint64_t)m->last_yes << 10 | group << 20 | (uint64_t)m->difference << 25;

    (void)about;
    words[0] = before | choice << 25;
    words[1] = before | (uint64_t)h[2] << 25;
    words[2] = before | (uint64_t)h[2] << 25 | (uint64_t)h[3] << 35;
    words[3] = before | low(m->chosen_before, 8) << 25 | choice << 33;
    words[4] = poll | (uint64_t)m->last_polls << 28;
    words[5] =
        poll | (uint64_t)since_class(m, m->last_yes) << 28 | (uint64_t)since_class(m, h[0]) << 36;
}

APART struct shape *new_shape(struct mix *m, struct rp_event *event, const bool reading)
{
    struct about about = {0};
    event->kind = (uint32_t)code_plain(m, NEW_KIND_BITS, event->kind, reading);
    event->site =
        (uint32_t)code_number(m, &about, shape_contexts, SHAPE_SITE, event->site, reading);
    struct shape *shape = &m->shapes[m->shape_count];
    *shape = (struct shape){.kind = event->kind, .site = event->site};
    if (m->shape_count < SHAPES) {
        uint32_t slot = slot_of(m, event->kind, event->site);
        if (m->slots[slot] == 0) /* hostile bytes may say a shape again */
            m->slots[slot] = (uint16_t)++m->shape_count;
    }
    return shape;
}

APART uint32_t code_shape_number(struct mix *m, uint32_t value, const bool reading)
{
    struct about about = {0};
    uint32_t prefix = 1;
    int left = 32 - __builtin_clz(m->shape_count | 1);

    while (left > 0) {
        int bits = (left - 1) % 4 + 1;
        struct symbol symbol =
            start_salted(m, &about, shape_contexts, SHAPE_TREE, SHAPE_TREE + 64 * prefix);
        left -= bits;
        prefix = prefix << bits | code_tree(&symbol, 0, 0, bits, value >> left & 15, reading);
    }
    return prefix - (UINT32_C(1) << (32 - __builtin_clz(m->shape_count | 1)));
}

INLINE struct shape *code_shape(struct mix *m, struct rp_event *event, const bool reading)
{
    struct about about = {0};
    struct list *list = &m->shape_lists[m->history[0]];
    uint32_t value = reading ? 0 : find_shape(m, event);
    struct symbol symbol = start_symbol(m, &about, shape_contexts, SHAPE);
    uint32_t place = code_place(&symbol, list, value, reading);

    value = is_listed(list, place) ? list->values[place] : code_shape_number(m, value, reading);
    if (value >= m->shape_count)
        return new_shape(m, event, reading);
    count_place(list, place, value);
    event->kind = m->shapes[value].kind;
    event->site = m->shapes[value].site;
    return &m->shapes[value];
}

/* Fields. `id` is the shape's number + 1. */

/* Kinds of which nothing is known but their fields. */
INLINE bool is_of_rest(uint32_t kind)
{
    return kind == RP_UNSENT || kind == RP_ERROR || kind > RP_FREED;
}

INLINE uint32_t scope_slot(const struct rp_event *event)
{
    bool has_one = event->kind == RP_YES || event->kind == RP_NO || event->kind == RP_RECV ||
                   event->kind == RP_PROBE;

    return has_one ? event->site % TABLE : TABLE + event->kind % 256;
}

/* Whether all is as usual: the scope is that of the call before at this site, the thread that of
 * the poll before, and what is 0 as a rule is 0. */
INLINE bool is_plain(const struct mix *m, const struct rp_event *event)
{
    bool plain = event->scope == m->scopes[scope_slot(event)];

    if (event->kind == RP_NO)
        return plain && event->any.a == m->thread;
    return plain &&
           (is_of_rest(event->kind) || rp_event_has_post(event->kind) || event->any.c == 0) &&
           (event->kind != RP_NEXT || event->any.b == 0);
}

INLINE void plain_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    uint64_t base = about->id | low(m->scopes[scope_slot(about->event)], 16) << 10,
             longer = base | (uint64_t)m->history[0] << 26 | (uint64_t)m->history[1] << 36;

    words[0] = base;
    words[1] = about->id;
    words[2] = longer;
    words[3] = longer | low((uint32_t)m->last.any.a, 8) << 46;
    words[4] = base | (uint64_t)m->last_polls << 26 | low(m->chosen, 8) << 36;
    words[5] = longer ^ (uint64_t)m->history[2] << 46 ^ (uint64_t)m->history[3] << 54;
}

INLINE bool code_plainness(struct mix *m, const struct about *about, struct rp_event *event,
                           const bool reading)
{
    uint32_t scope = m->scopes[scope_slot(event)];

    if (code_flag(m, about, plain_contexts, PLAIN, !reading && is_plain(m, event), reading)) {
        event->scope = scope;
        return true;
    }
    event->scope = (uint32_t)code_number(m, about, plain_contexts, SCOPE, event->scope, reading);
    return false;
}

INLINE void posts_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    uint64_t base = about->id | (uint64_t)m->history[0] << 10,
             longer = base | (uint64_t)m->history[1] << 20,
             longest = longer | (uint64_t)m->history[2] << 30;

    words[0] = longest | low((uint32_t)m->last.any.b, 8) << 40;
    words[1] = about->id | low(about->shape->posts, 16) << 20;
    words[2] = base;
    words[3] = longer;
    words[4] = longest | (uint64_t)m->history[3] << 40 | low((uint32_t)m->last.any.a, 8) << 50;
    words[5] = longer | (uint64_t)m->last_polls << 30;
}

INLINE void code_posts(struct mix *m, const struct about *about, struct rp_event *event,
                       const bool reading)
{
    event->posts = (uint32_t)code_number(m, about, posts_contexts, POSTS, event->posts, reading);
}

/* An index or a source that is not listed. */
INLINE int32_t code_other_choice(struct mix *m, const struct about *about, contexts_of *contexts,
                                 int32_t value, const bool reading)
{
    struct symbol symbol = start_symbol(m, about, contexts, CHOICE_TREE);
    uint32_t small = code_tree(&symbol, 0, 0, 3,
                               value < 0   ? 0
                               : value < 6 ? (uint32_t)value + 1
                                           : 7,
                               reading);

    if (small == 0)
        return (int32_t)(uint32_t)-code_number(m, about, contexts, CHOICE_NEGATIVE,
                                               (uint64_t) - (int64_t)value, reading);
    return small < 7 ? (int32_t)small - 1
                     : (int32_t)(5 + code_large(&symbol, 7, (uint64_t)value - 5, reading));
}

/* What a list has of a choice: it + 1; none where that takes more than 16 bits. */
enum { NOT_LISTABLE = 0xffff };

INLINE uint32_t listable(int32_t choice)
{
    return choice >= -1 && choice < NOT_LISTABLE - 1 ? (uint32_t)choice + 1 : NOT_LISTABLE;
}

INLINE int32_t code_choice(struct mix *m, const struct about *about, contexts_of *contexts,
                           int32_t value, const bool reading)
{
    struct list *list = &m->choice_lists[about->id];
    struct symbol symbol = start_symbol(m, about, contexts, CHOICE);
    uint32_t place = code_place(&symbol, list, listable(value), reading);

    value = is_listed(list, place) ? (int32_t)list->values[place] - 1
                                   : code_other_choice(m, about, contexts, value, reading);
    if (listable(value) != NOT_LISTABLE)
        count_place(list, place, listable(value));
    return value;
}

/* YES and NEXT */

/* 1, none and undefined are the usual counts of indices, in this order. */
INLINE uint32_t fold_count(int32_t count)
{
    return count == 1 ? 0 : count == 0 ? 1 : count < 0 ? 2 : (uint32_t)count + 1;
}

INLINE int32_t unfold_count(uint32_t value)
{
    return value == 0 ? 1 : value == 1 ? 0 : value == 2 ? -1 : (int32_t)(value - 1);
}

INLINE void count_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    uint64_t id = about->id, base = id | (uint64_t)m->history[0] << 10,
             same = id | low((uint32_t)about->shape->b, 10) << 10;

    words[0] = same;
    words[1] = id | (uint64_t)since_class(m, about->id) << 30 | low(m->chosen, 8) << 40;
    words[2] = base | (uint64_t)m->last_polls << 20;
    words[3] = base | (uint64_t)m->history[1] << 20 | low((uint32_t)m->last.any.a, 8) << 30;
    words[4] = same | low((uint32_t)about->shape->a[0], 10) << 20 |
               low((uint32_t)about->shape->a[1], 10) << 30;
    words[5] = id;
}

INLINE void index_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    const struct shape *s = about->shape;
    uint64_t next = about->event->kind == RP_NEXT ? low((uint32_t)m->last.any.a, 12) + 1 : 0,
             base = about->id | next << 10 | low((uint32_t)about->event->any.b, 5) << 23;
    uint64_t two = low((uint32_t)s->a[0], 12) << 28 | low((uint32_t)s->a[1], 12) << 40;

    words[0] = base | low(m->chosen_before, 16) << 28;
    words[1] = base | (uint64_t)m->last_yes << 28 | low(m->chosen, 12) << 38;
    words[2] = base | two;
    words[3] = base | (uint64_t)m->history[0] << 28 | (uint64_t)m->history[1] << 38 |
               low(m->chosen, 12) << 48;
    words[4] = base | (uint64_t)m->last_polls << 28 | low((uint32_t)s->a[0], 12) << 36;
    words[5] = (base | two) ^ low((uint32_t)s->a[2], 12) << 52;
}

INLINE void id_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    words[0] = about->id;
    words[1] = about->id | (uint64_t)m->history[0] << 10;
    words[2] = about->id | (uint64_t)m->history[0] << 10 | (uint64_t)m->history[1] << 20;
    words[3] = about->id | low((uint32_t)m->last.any.a, 16) << 10;
    words[4] = about->id | low((uint32_t)about->shape->b, 16) << 10;
    words[5] = about->id | low(about->shape->c[0], 16) << 10;
}

INLINE void code_yes(struct mix *m, const struct about *about, bool plain, struct rp_event *event,
                     const bool reading)
{
    if (event->kind == RP_YES)
        event->any.b = unfold_count((uint32_t)code_number(m, about, count_contexts, COUNT,
                                                          fold_count(event->any.b), reading));
    else
        event->any.b =
            plain ? 0 : code_signed(m, about, id_contexts, REST_B, event->any.b, reading);
    event->any.c = plain ? 0 : code_number(m, about, id_contexts, REST_C, event->any.c, reading);
    if (event->kind == RP_NEXT || event->any.b > 0)
        event->any.a = code_choice(m, about, index_contexts, event->any.a, reading);
    else
        event->any.a = RP_NO_INDEX;
}

/* NO */

/* Within a group counts are often alike: the same, one more, one less, or another. */
INLINE uint32_t nearness(uint64_t more)
{
    return more == 0 ? 0 : more == 1 ? 1 : more == UINT64_MAX ? 2 : 3;
}

INLINE bool is_in_group(const struct mix *m)
{
    return m->last.kind == RP_NO && m->last.any.b > 0;
}

INLINE void near_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    uint64_t now = class_of(m->last.any.c),
             base = about->id | (uint64_t)m->history[0] << 10 | (uint64_t)m->history[1] << 20;

    words[0] = base | (uint64_t)m->history[2] << 30 | now << 40;
    words[1] = base | (uint64_t)about->event->any.b << 30;
    words[2] = about->id | now << 10;
    words[3] = base | low(m->chosen_before, 8) << 30;
    words[4] = base | (uint64_t)m->history[2] << 30 | (uint64_t)m->history[3] << 40;
    words[5] = about->id | now << 10 | (uint64_t)class_of(about->shape->c[0]) << 18;
}

INLINE bool code_near_polls(struct mix *m, const struct about *about, struct rp_event *event,
                            const bool reading)
{
    struct symbol symbol = start_symbol(m, about, near_contexts, POLLS_NEAR);
    uint32_t value = nearness(event->any.c - m->last.any.c);
    uint32_t near = 0;
    while (near < 3 && !code_at(&symbol, near, 0, value == near, reading))
        near++;

    if (near < 3)
        event->any.c = m->last.any.c + (near == 1) - (near == 2);
    return near < 3;
}

INLINE void polls_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    const struct shape *s = about->shape;
    uint64_t base = about->id | (uint64_t)about->event->any.b << 10 |
                    (uint64_t)(is_in_group(m) ? class_of(m->last.any.c) + 1 : 0) << 14;
    uint64_t longer = base | (uint64_t)m->history[0] << 23 | (uint64_t)m->history[1] << 33,
             mine = base | (uint64_t)class_of(s->c[0]) << 23;

    words[0] = longer | low((uint32_t)m->last.any.a, 8) << 43;
    words[1] = mine;
    words[2] = base;
    words[3] = mine | (uint64_t)class_of(s->c[1]) << 31;
    words[4] = base | low(m->chosen, 8) << 23 | low(m->chosen_before, 8) << 31 |
               (uint64_t)m->history[1] << 39;
    words[5] = longer | (uint64_t)m->history[2] << 43 | (uint64_t)m->history[3] << 53;
}

INLINE void group_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    bool in_group = m->last.kind == RP_NO;
    uint64_t id = about->id,
             base = id | (uint64_t)m->history[0] << 10 | (uint64_t)m->history[1] << 20,
             group = low((uint32_t)m->last.any.b, 5);

    words[0] = base | group << 30;
    words[1] = id | (in_group ? group + 1 : 0) << 30;
    words[2] = base | group << 30 | (uint64_t)m->history[2] << 35;
    words[3] = base | group << 30 | (uint64_t)m->history[2] << 35 | (uint64_t)m->history[3] << 45;
    words[4] = base | group << 30 | (uint64_t)m->last_polls << 35;
    words[5] = id | group << 10 | (uint64_t)m->last_yes << 20 | low(m->chosen, 8) << 30;
}

INLINE void thread_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    id_contexts(m, about, words);
    words[0] = about->id | low((uint32_t)m->thread, 16) << 10;
}

INLINE void code_no(struct mix *m, const struct about *about, bool plain, struct rp_event *event,
                    const bool reading)
{
    event->any.b =
        (int32_t)code_number(m, about, group_contexts, GROUP, (uint32_t)event->any.b, reading);
    event->any.a =
        plain ? m->thread : code_signed(m, about, thread_contexts, THREAD, event->any.a, reading);
    if (!is_in_group(m) || !code_near_polls(m, about, event, reading))
        event->any.c = code_number(m, about, polls_contexts, POLLS, event->any.c - 1, reading) + 1;
}

/* Messages: RECV, PROBE, MATCH, FREED, CANCELLED */

INLINE uint32_t tag_slot(const struct rp_event *event)
{
    return ((uint32_t)event->any.a * 7 + event->site) % TABLE;
}

INLINE void tag_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    const struct rp_event *event = about->event;
    const struct shape *s = about->shape;
    uint32_t slot = tag_slot(event);
    int32_t tag = m->tags[slot], next = m->tags[m->heard_before[slot]];
    uint64_t base = about->id | low((uint32_t)tag, 16) << 10;

    words[0] = base | low((uint32_t)next, 16) << 26;
    words[1] = base;
    words[2] = base | (uint64_t)m->history[0] << 26 | low((uint32_t)s->b, 8) << 36;
    words[3] = base | low((uint32_t)s->b, 16) << 26;
    words[4] = about->id | low((uint32_t)event->any.a, 24) << 10;
    words[5] = about->id | low((uint32_t)next, 16) << 10 | low((uint32_t)s->b, 16) << 26;
}

INLINE void code_tag(struct mix *m, const struct about *about, struct rp_event *event,
                     const bool reading)
{
    int32_t tag = m->tags[tag_slot(event)];
    uint64_t more = fold((int64_t)event->any.b - tag);

    event->any.b = (int32_t)((uint32_t)tag + (uint32_t)unfold(code_number(m, about, tag_contexts,
                                                                          TAG, more, reading)));
}

INLINE void post_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    uint64_t id = about->id;

    words[0] = id | low(m->chosen, 12) << 10;
    words[1] = id;
    words[2] = id | (uint64_t)m->history[0] << 10 | low((uint32_t)m->last.any.a, 12) << 20;
    words[3] = id | low((uint32_t)about->shape->b, 16) << 10;
    words[4] = id | (uint64_t)m->history[0] << 10 | (uint64_t)m->history[1] << 20;
    words[5] = id | low(m->chosen_before, 16) << 10;
}

INLINE void code_post(struct mix *m, const struct about *about, struct rp_event *event,
                      const bool reading)
{
    uint64_t likely = m->reposted[(event->site * 31 + m->chosen) % TABLE];

    if (!code_flag(m, about, post_contexts, POST_NEW, event->any.c != likely, reading))
        event->any.c = likely;
    else
        event->any.c =
            m->next_post +
            (uint64_t)unfold(code_number(m, about, post_contexts, POST,
                                         fold((int64_t)(event->any.c - m->next_post)), reading));
}

INLINE void source_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    const struct shape *s = about->shape;
    uint64_t id = about->id, one = id | low((uint32_t)s->a[0], 16) << 10,
             two = one | low((uint32_t)s->a[1], 16) << 26;

    words[0] = two;
    words[1] = one;
    words[2] = two ^ low((uint32_t)s->a[2], 16) << 42;
    words[3] = id | (uint64_t)m->history[0] << 10 | low((uint32_t)m->last.any.a, 16) << 20;
    words[4] = one | low(m->chosen, 16) << 26;
    words[5] = id;
}

INLINE void code_message(struct mix *m, const struct about *about, bool plain,
                         struct rp_event *event, const bool reading)
{
    event->any.a = code_choice(m, about, source_contexts, event->any.a, reading);
    code_tag(m, about, event, reading);
    if (rp_event_has_post(event->kind))
        code_post(m, about, event, reading);
    else
        event->any.c =
            plain ? 0 : code_number(m, about, id_contexts, REST_C, event->any.c, reading);
}

/* Everything else: threads, values, clocks */

INLINE void rest_contexts(const struct mix *m, const struct about *about, uint64_t *words)
{
    const struct shape *s = about->shape;
    uint64_t id = about->id,
             base = id | (uint64_t)m->history[0] << 10 | (uint64_t)m->history[1] << 20;

    words[0] = base;
    words[1] = id;
    words[2] = id | low((uint32_t)s->a[0], 12) << 10 | low((uint32_t)s->a[1], 12) << 22 |
               low((uint32_t)s->a[2], 12) << 34;
    words[3] = id | (uint64_t)class_of(s->c[0]) << 10;
    words[4] = base | (uint64_t)m->history[2] << 30 | low((uint32_t)s->a[0], 12) << 40;
    words[5] = id | (uint64_t)class_of(s->c[0]) << 10 | (uint64_t)class_of(s->c[1]) << 20;
}

/* What comes from counters and clocks is told by how much it grew, if that is shorter. */
INLINE void code_value(struct mix *m, const struct about *about, struct rp_event *event,
                       const bool reading)
{
    uint64_t before = about->shape->c[0], more = fold((int64_t)(event->any.c - before));

    if (code_flag(m, about, rest_contexts, GROWS, more < event->any.c, reading))
        event->any.c =
            before + (uint64_t)unfold(code_number(m, about, rest_contexts, GROWTH, more, reading));
    else
        event->any.c = code_number(m, about, rest_contexts, REST_C, event->any.c, reading);
}

INLINE void code_rest(struct mix *m, const struct about *about, struct rp_event *event,
                      const bool reading)
{
    event->any.a = code_choice(m, about, rest_contexts, event->any.a, reading);
    event->any.b = code_signed(m, about, rest_contexts, REST_B, event->any.b, reading);
    code_value(m, about, event, reading);
}

/* What is kept of an event for those that follow */

INLINE void note_choice(struct mix *m, int32_t choice)
{
    m->chosen = (uint32_t)choice + 1;
    m->chosen_before = m->chosen_before << 4 | ((uint32_t)choice & 15);
}

INLINE void learn_index(struct mix *m, const struct rp_event *event)
{
    note_choice(m, event->any.a);
    m->reposted[(event->site * 31 + m->chosen) % TABLE] = m->posts;
}

INLINE void learn_polls(struct mix *m, const struct rp_event *event)
{
    m->difference = is_in_group(m) ? nearness(event->any.c - m->last.any.c) + 1 : 0;
    m->thread = event->any.a;
    m->last_polls = class_of(event->any.c);
    m->since[event->site % TABLE] += (uint32_t)event->any.c;
}

INLINE void learn_message(struct mix *m, const struct rp_event *event)
{
    m->heard_before[tag_slot(event)] = (uint16_t)m->heard;
    m->heard = tag_slot(event);
    m->tags[tag_slot(event)] = event->any.b;
    if (rp_event_has_post(event->kind))
        m->next_post = event->any.c + 1;
    note_choice(m, event->any.a);
}

INLINE void learn_kind(struct mix *m, uint32_t id, const struct rp_event *event)
{
    m->difference = 0;
    switch (event->kind) {
    case RP_YES:
        if (event->any.b > 0)
            learn_index(m, event);
        m->last_yes = id;
        m->since[event->site % TABLE] = 0;
        break;
    case RP_NEXT:
        learn_index(m, event);
        break;
    case RP_NO:
        learn_polls(m, event);
        break;
    case RP_RECV:
    case RP_PROBE:
    case RP_MATCH:
    case RP_FREED:
    case RP_CANCELLED:
        learn_message(m, event);
    }
}

INLINE void learn(struct mix *m, uint32_t id, const struct rp_event *event)
{
    struct shape *s = &m->shapes[id - 1];

    m->posts += event->posts;
    m->scopes[scope_slot(event)] = event->scope;
    learn_kind(m, id, event);
    s->posts = event->posts;
    s->a[2] = s->a[1];
    s->a[1] = s->a[0];
    s->a[0] = event->any.a;
    s->b = event->any.b;
    s->c[1] = s->c[0];
    s->c[0] = event->any.c;
    for (int i = 3; i > 0; i--)
        m->history[i] = m->history[i - 1];
    m->history[0] = id;
    m->last = *event;
    m->trail[2] = m->trail[1];
    m->trail[1] = m->trail[0];
    m->trail[0] = id + (uint32_t)event->any.a * 0x9e3779b1 +
                  (event->kind == RP_NO ? 0 : (uint32_t)event->any.b * 0x85ebca6b);
}

/* Events that follow as before */

INLINE uint64_t base_of(const struct mix *m, uint32_t kind)
{
    return rp_event_has_post(kind) ? m->next_post : 0;
}

INLINE bool is_foretold(const struct mix *m, const struct foretold *f, const struct rp_event *event)
{
    const struct rp_event *e = &f->event;

    return e->kind == event->kind && e->site == event->site && e->posts == event->posts &&
           e->scope == event->scope && e->any.a == event->any.a && e->any.b == event->any.b &&
           e->any.c == event->any.c - base_of(m, event->kind);
}

/* Whether it comes as foretold. */
INLINE bool code_faith(struct mix *m, const struct foretold *f, const struct rp_event *event,
                       const bool reading)
{
    uint32_t *faith = &m->faith[f->hits < FAITHS ? f->hits : FAITHS - 1],
             probability = *faith >> FAITH_SHIFT;
    bool comes = rp_range_bit(&m->range, probability > 0 ? probability : 1,
                              !reading && is_foretold(m, f, event), reading);

    *faith = comes ? *faith + (((1 << 22) - 1 - *faith) >> FAITH_SHIFT)
                   : *faith - (*faith >> FAITH_SHIFT);
    return comes;
}

INLINE void foretell(struct mix *m, struct foretold *f, uint32_t check, uint32_t id,
                     const struct rp_event *event)
{
    if (f->check == check && is_foretold(m, f, event)) {
        f->hits += f->hits < FAITHS;
        return;
    }
    if (id > SHAPES)
        return;
    f->check = check;
    f->hits = 0;
    f->id = id;
    f->event = *event;
    f->event.any.c -= base_of(m, event->kind);
}

/* Events */

INLINE uint32_t code_fields(struct mix *m, struct rp_event *event, const bool reading)
{
    struct shape *s = code_shape(m, event, reading);
    struct about about = {s, (uint32_t)(s - m->shapes) + 1, event};
    bool plain = code_plainness(m, &about, event, reading);

    if (rp_event_counts_posts(event->kind))
        code_posts(m, &about, event, reading);
    switch (event->kind) {
    case RP_YES:
    case RP_NEXT:
        code_yes(m, &about, plain, event, reading);
        break;
    case RP_NO:
        code_no(m, &about, plain, event, reading);
        break;
    case RP_RECV:
    case RP_PROBE:
    case RP_MATCH:
    case RP_FREED:
    case RP_CANCELLED:
        code_message(m, &about, plain, event, reading);
        break;
    default:
        code_rest(m, &about, event, reading);
    }
    return about.id;
}

INLINE void code_event(struct mix *m, struct rp_event *event, const bool reading)
{
    uint32_t key = hash_of(m->trail[0] | (uint64_t)m->trail[1] << 32, m->trail[2]) | 1, id;
    struct foretold *f = &m->foretold[key >> 1 & (TABLE - 1)];

    if (f->check == key && f->hits >= TRUSTED && code_faith(m, f, event, reading)) {
        id = f->id;
        *event = f->event;
        event->any.c += base_of(m, event->kind);
        f->hits += f->hits < FAITHS;
    } else {
        id = code_fields(m, event, reading);
        foretell(m, f, key, id, event);
    }
    learn(m, id, event);
}

/* The codec */

static void *mix_open(void)
{
    rp_mixer_start();
    return rp_aligned_new(64, sizeof(struct mix));
}

static void mix_close(void *state)
{
    if (state)
        memset(state, 0, sizeof(struct mix)); /* preload/zero_on_free.c tells why */
    rp_aligned_free(state);
}

static void mix_reset(void *state)
{
    struct mix *m = state;

    memset((char *)m + sizeof m->mixer, 0, sizeof *m - sizeof m->mixer);
    for (int i = 0; i < FAITHS; i++)
        m->faith[i] = FAITH_FIRST;
    rp_mixer_reset(&m->mixer);
}

static enum rp_status mix_encode(void *state, const struct rp_event *events, size_t count,
                                 struct rp_buffer *out)
{
    struct mix *m = state;

    rp_range_start(&m->range);
    for (size_t i = 0; i < count; i++) {
        struct rp_event event = events[i];
        if (!rp_buffer_reserve(out, EVENT_MOST))
            return RP_MEMORY;
        m->range.at = out->bytes + out->length;
        code_event(m, &event, false);
        out->length = (size_t)(m->range.at - out->bytes);
    }
    rp_range_finish(&m->range);
    out->length = (size_t)(m->range.at - out->bytes);
    return RP_OK;
}

static enum rp_status mix_decode(void *state, const uint8_t *bytes, size_t length, size_t count,
                                 struct rp_event *events, struct rp_problem *why)
{
    struct mix *m = state;

    rp_range_read_from(&m->range, bytes, length);
    for (size_t i = 0; i < count; i++) {
        memset(&events[i], 0, sizeof events[i]);
        code_event(m, &events[i], true);
        if (!rp_event_is_valid(&events[i]) || m->range.missing > RP_RANGE_MISSING)
            return rp_fail(why, RP_DAMAGED, "event %zu of the chunk is not an event", i);
    }
    if (!rp_range_is_whole(&m->range))
        return rp_fail(why, RP_DAMAGED, "the bytes are not those of %zu events", count);
    return RP_OK;
}

const struct rp_codec rp_codec_mix = {.id = MIX_ID,
                                      .name = "mix",
                                      .continues = true,
                                      .open = mix_open,
                                      .close = mix_close,
                                      .reset = mix_reset,
                                      .encode = mix_encode,
                                      .decode = mix_decode};
