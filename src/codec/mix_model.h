/* SPDX-License-Identifier: MIT */
/*
 * The state of codec `mix`: what it has learnt from the events before. Only mix.c includes the
 * headers mix_*.h; they are headers so that the compiler sees all loops of the codec as one.
 */
#ifndef RP_MIX_MODEL_H
#define RP_MIX_MODEL_H

#include "codec/codec.h"
#include "codec/mixer.h"

enum { CONFIDENCES = 16 };
enum { SHAPES = 1023, SHAPE_SLOTS = 2048, TABLE = 1024 };

enum { LISTED = 8 }; /* places of a list */

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

/* The last values of the fields of a shape. */
struct shape {
    uint32_t kind, site;
    uint32_t posts;
    int32_t a[3], b;
    uint64_t c[2];
};

/* The event that followed the same three events last time. */
struct prediction {
    uint32_t check, hits;
    uint32_t id;
    struct rp_event event; /* c less next_post where it is a post */
};

/* A list of values, usually with the most frequent first. */
struct list {
    uint16_t values[LISTED], counts[LISTED];
};

struct mix {
    struct rp_mixer mixer;
    struct rp_range range;
    uint32_t shape_count;
    struct shape shapes[SHAPES + 1]; /* the last one is for shapes that the list has no room for */
    uint16_t slots[SHAPE_SLOTS];     /* shape + 1 by hash of kind and site */
    struct list shape_lists[SHAPES + 2];  /* what follows a shape, by its number + 1 */
    struct list choice_lists[SHAPES + 2]; /* what a shape chooses, by its number + 1 */
    uint32_t scopes[TABLE + 256]; /* the last scope of each site; behind them, of each kind that
                                     usually has none */
    int32_t tags[TABLE];          /* the last tag of each source */
    uint16_t tag_before[TABLE];   /* by source: the entry of `tags` that was used before its last */
    uint32_t
        since[TABLE]; /* how many polls completed nothing since the last completion, of each site */
    uint64_t reposted[TABLE]; /* posts made when an index of a site completed last */
    /* What is kept of the previous events. */
    struct rp_event last;
    uint32_t history[4]; /* shapes + 1, newest first */
    uint32_t last_yes;   /* shape + 1 */
    uint32_t last_tag;   /* entry of `tags` of the last message */
    uint32_t last_polls; /* class of the last count of polls */
    uint32_t difference; /* class of the difference between the last count and the one before in its
                            group */
    uint32_t chosen;     /* last index or source, + 1 */
    uint32_t chosen_before; /* the last ones, four bits each */
    int32_t thread;
    uint64_t posts, next_post;
    uint32_t trail[3]; /* shape and choice of the last events */
    struct prediction predictions[TABLE];
    uint32_t confidence[CONFIDENCES]; /* by how often it was right: the probability that the
                                         prediction is right, in units of 2^-22 */
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

/* Counts below 8 are classes of their own; above, there are two classes for each power of two. */
INLINE uint32_t class_of(uint64_t count)
{
    int bits = count < 8 ? 0 : 64 - __builtin_clzll(count);

    return count < 8 ? (uint32_t)count : (uint32_t)(8 + 2 * bits + (int)(count >> (bits - 2) & 1));
}

#endif
