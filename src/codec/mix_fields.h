/* SPDX-License-Identifier: MIT */
/*
 * How codec `mix` codes each field of an event, and by which contexts. Every function takes the
 * event to write; when it reads, it sets the fields of that event.
 */
#ifndef RP_MIX_FIELDS_H
#define RP_MIX_FIELDS_H

#include "codec/mix_symbols.h"

/* Shapes */

INLINE uint32_t slot_of(const struct mix *m, uint32_t kind, uint32_t site)
{
    uint32_t slot = hash_of((uint64_t)kind << 32 | site, 0) % SHAPE_SLOTS;

    while (m->slots[slot] && (m->shapes[m->slots[slot] - 1].kind != kind ||
                              m->shapes[m->slots[slot] - 1].site != site))
        slot = (slot + 1) % SHAPE_SLOTS;
    return slot;
}

/* Returns the number of the event's shape, or shape_count if it is not in the list. */
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

enum { NEW_KIND_BITS = 8 };

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
        if (m->slots[slot] == 0) /* hostile bytes may name a shape twice */
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

/* Kinds whose fields have no model of their own. */
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

/* Returns whether the scope is that of the previous call at this site, the thread is that of the
 * previous poll, and the fields that are usually 0 are 0. */
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

/* A list holds a choice + 1; choices that need more than 16 bits are not listed. */
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

/* Numbers the counts of indices: 1, none and undefined, the usual ones, come first. */
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

/* Within a group, counts are often similar: equal, one more, one less, or else. */
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
             same_shape = base | (uint64_t)class_of(s->c[0]) << 23;

    words[0] = longer | low((uint32_t)m->last.any.a, 8) << 43;
    words[1] = same_shape;
    words[2] = base;
    words[3] = same_shape | (uint64_t)class_of(s->c[1]) << 31;
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
    int32_t tag = m->tags[slot], next = m->tags[m->tag_before[slot]];
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

/* Values of counters and clocks are coded as the difference to the previous one, if that is
 * shorter. */
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

#endif
