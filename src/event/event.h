/* SPDX-License-Identifier: MIT */
/*
 * Events: one for each non-deterministic outcome of an MPI call. docs/format.md, section 3.
 * No event for a send: sends follow from receives (CDC, definition 7).
 */
#ifndef RP_EVENT_H
#define RP_EVENT_H

#include <stddef.h>
#include <stdint.h>

enum rp_event_kind {
    RP_RECV = 1,
    RP_PROBE = 2,
    RP_NO = 3,
    RP_YES = 4,
    RP_NEXT = 5,
    RP_MATCH = 6,
    RP_CANCELLED = 7,
    RP_UNSENT = 8,
    RP_ERROR = 9,
    RP_FREED = 10,
    RP_THREAD = 11,
    RP_TURN = 12,
    RP_VALUE = 13,
    RP_CLOCK = 14,
    RP_EVENT_KINDS
};

enum { RP_NO_INDEX = -1, RP_UNDEFINED_COUNT = -1 };

/* A flag in the scope of a CLOCK. The other bits of the scope count the CLOCKs of the same call
 * that still follow. */
#define RP_CLOCK_FRESH (1u << 31)

static inline uint32_t rp_clock_left(uint32_t scope)
{
    return scope & ~RP_CLOCK_FRESH;
}

/* How many NO events a group has at most. */
enum { RP_OPEN_RUNS = 16 };

struct rp_event {
    uint32_t kind; /* enum rp_event_kind */
    uint32_t site;
    uint32_t posts; /* how many non-blocking receives were posted since the event before */
    uint32_t scope; /* a communicator's number; YES and NO of a completion call: how many requests
                       it was passed; CLOCK: see rp_clock_left */
    union {
        struct {
            int32_t source, tag;
            uint64_t post; /* the number of the receive; RECV and PROBE: 0 */
        } match;           /* RECV, PROBE, MATCH, FREED; CANCELLED: the post alone */
        struct {
            int32_t thread;
            int32_t group_left; /* how many NOs of this group follow */
            uint64_t times;
        } no;
        struct {
            int32_t index;     /* the first index; RP_NO_INDEX: the call has none */
            int32_t count;     /* how many indices, NEXTs included; or RP_UNDEFINED_COUNT */
            uint64_t waitalls; /* MPI_Waitall: how many of its calls there were so far; else 0 */
        } yes;
        struct {
            int32_t index;
        } next; /* one more index of the YES before */
        struct {
            int32_t zero[2];
            uint64_t cancel; /* the number of its MPI_Cancel */
        } unsent;
        struct {
            int32_t class;
        } error;
        struct {
            int32_t number, zero;
            uint64_t identity;
        } thread;
        struct {
            int32_t thread, zero;
            uint64_t turns;
        } turn;
        struct {
            int32_t small, zero;
            uint64_t large;
        } value; /* a captured value: docs/format.md says which field */
        struct {
            int32_t sender; /* the sender's rank in MPI_COMM_WORLD */
            int32_t index;  /* the index of the request; RP_NO_INDEX: the call has none */
            uint64_t clock;
        } clock;
        struct {
            int32_t a, b;
            uint64_t c;
        } any; /* for codecs and digests, which treat all kinds alike */
    };
};

/* The initialiser of an event of any kind. */
#define RP_EVENT(kind_, site_, posts_, scope_, a_, b_, c_)                                         \
    {                                                                                              \
        .kind = (kind_), .site = (site_), .posts = (posts_), .scope = (scope_), .any = {           \
            (a_),                                                                                  \
            (b_),                                                                                  \
            (c_)                                                                                   \
        }                                                                                          \
    }

_Static_assert(sizeof(struct rp_event) == 32, "the ring's slots are 32 bytes");

/* Returns the name of the kind in docs/format.md, or "?". */
const char *rp_event_name(uint32_t kind);

/* Returns false for values that no writer makes: an unknown kind, or counts out of range. */
int rp_event_is_valid(const struct rp_event *event);

/* Returns whether events of this kind name a posted receive. */
static inline int rp_event_has_post(uint32_t kind)
{
    return kind == RP_MATCH || kind == RP_CANCELLED || kind == RP_FREED;
}

/* Returns whether `posts` is used by events of this kind; in the others it is 0. */
static inline int rp_event_counts_posts(uint32_t kind)
{
    return kind != RP_NO && kind != RP_THREAD && kind != RP_CLOCK;
}

/* Returns how many receives the event stands for: a blocking wildcard receive or one after a probe,
 * and the non-blocking ones posted before the event. */
static inline uint64_t rp_event_receives(const struct rp_event *event)
{
    return event->posts + (uint64_t)(event->kind == RP_RECV || event->kind == RP_PROBE);
}

#define RP_DIGEST_START UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t rp_digest_word(uint64_t digest, uint64_t word)
{
    uint64_t mixed = digest ^ word * UINT64_C(0x9fb21c651e98df25);

    return (mixed << 29 | mixed >> 35) * UINT64_C(0xd6e8feb86659fd93);
}

/* Returns the digest of a stream of events, extended by one event. */
static inline uint64_t rp_digest(uint64_t digest, const struct rp_event *event)
{
    digest = rp_digest_word(digest, event->kind);
    digest = rp_digest_word(digest, event->posts | (uint64_t)event->scope << 32);
    digest =
        rp_digest_word(digest, (uint32_t)event->any.a | (uint64_t)(uint32_t)event->any.b << 32);
    return rp_digest_word(digest, event->any.c);
}

#endif
