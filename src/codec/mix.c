/* SPDX-License-Identifier: MIT */
/*
 * Codec `mix`: an adaptive binary range coder over mixed contexts (codec/mixer.h). docs/format.md,
 * section 3, specifies every bit; docs/codecs.md lists what was tried.
 *
 * An event is coded field by field. First comes its *shape*: its kind and call site, together a
 * number in a list that grows as shapes appear. Then come scope, posts and the other fields. Each
 * is a number, coded as a few bits of a small tree. The contexts make the result small: the
 * previous shapes, the last values of the same shape, the last completion, how many polls completed
 * nothing. Reading and writing are the same code, so that they cannot differ: every function takes
 * the value to write, and returns the value that was written or read.
 *
 * Where the same three events were followed by the same event several times, one bit says that it
 * follows again. Regular programs consist mostly of such events, and are coded fast.
 *
 * The state is carried from chunk to chunk until the writer resets it; a chunk says whether it was
 * reset.
 */
#include <stdlib.h>

#include "base/aligned.h"
#include "codec/mix_fields.h"

enum { MIX_ID = 2 };
enum { TRUSTED = 10, CONFIDENCE_FIRST = (1 << 22) / 16 * 15, CONFIDENCE_SHIFT = 6 };

/* The most bytes of an event, even if each of its bits costs 16. */
enum { EVENT_MOST = 512 };

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
    m->tag_before[tag_slot(event)] = (uint16_t)m->last_tag;
    m->last_tag = tag_slot(event);
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

INLINE bool is_predicted(const struct mix *m, const struct prediction *f,
                         const struct rp_event *event)
{
    const struct rp_event *e = &f->event;

    return e->kind == event->kind && e->site == event->site && e->posts == event->posts &&
           e->scope == event->scope && e->any.a == event->any.a && e->any.b == event->any.b &&
           e->any.c == event->any.c - base_of(m, event->kind);
}

/* Codes whether the predicted event follows, and returns it. */
INLINE bool code_confidence(struct mix *m, const struct prediction *f, const struct rp_event *event,
                            const bool reading)
{
    uint32_t *confidence = &m->confidence[f->hits < CONFIDENCES ? f->hits : CONFIDENCES - 1],
             probability = *confidence >> CONFIDENCE_SHIFT;
    bool comes = rp_range_bit(&m->range, probability > 0 ? probability : 1,
                              !reading && is_predicted(m, f, event), reading);

    *confidence = comes ? *confidence + (((1 << 22) - 1 - *confidence) >> CONFIDENCE_SHIFT)
                        : *confidence - (*confidence >> CONFIDENCE_SHIFT);
    return comes;
}

INLINE void predict(struct mix *m, struct prediction *f, uint32_t check, uint32_t id,
                    const struct rp_event *event)
{
    if (f->check == check && is_predicted(m, f, event)) {
        f->hits += f->hits < CONFIDENCES;
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
    struct prediction *f = &m->predictions[key >> 1 & (TABLE - 1)];

    if (f->check == key && f->hits >= TRUSTED && code_confidence(m, f, event, reading)) {
        id = f->id;
        *event = f->event;
        event->any.c += base_of(m, event->kind);
        f->hits += f->hits < CONFIDENCES;
    } else {
        id = code_fields(m, event, reading);
        predict(m, f, key, id, event);
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
        memset(state, 0, sizeof(struct mix)); /* see preload/zero_on_free.c */
    rp_aligned_free(state);
}

static void mix_reset(void *state)
{
    struct mix *m = state;

    memset((char *)m + sizeof m->mixer, 0, sizeof *m - sizeof m->mixer);
    for (int i = 0; i < CONFIDENCES; i++)
        m->confidence[i] = CONFIDENCE_FIRST;
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
