/* SPDX-License-Identifier: MIT */
/*
 * The replay matcher: hands out the recorded events of a stream one by one, and answers for each
 * receive about to be posted what it matched. It holds two blocks of events and the late matches,
 * never the log.
 */
#ifndef RP_MATCHER_H
#define RP_MATCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "event/event.h"

/* Where blocks come from: fills `events` (room for `room`) and sets `count`, 0 at the end. */
struct rp_block_source {
    enum rp_status (*next)(void *owner, struct rp_event *events, size_t *count,
                           struct rp_problem *why);
    void *owner;
    size_t room; /* the largest block */
};

struct rp_match {
    uint64_t post;
    uint32_t kind; /* RP_MATCH, RP_CANCELLED or RP_FREED */
    int32_t source, tag;
};

struct rp_matcher;

/* `late` is sorted by post and is copied. */
enum rp_status rp_matcher_create(struct rp_block_source source, const struct rp_match *late,
                                 size_t late_count, struct rp_matcher **out,
                                 struct rp_problem *why);
void rp_matcher_free(struct rp_matcher *matcher);

/* The next event, NULL at the end of the record. On a damaged log the status is not RP_OK. */
enum rp_status rp_matcher_peek(struct rp_matcher *matcher, const struct rp_event **out,
                               struct rp_problem *why);

/* The event after the peeked one that is `ahead` further, within the same call's group; NULL if the
 * record ends before. */
enum rp_status rp_matcher_ahead(struct rp_matcher *matcher, size_t ahead,
                                const struct rp_event **out, struct rp_problem *why);

/* The same as far as events are loaded, and without moving any: NULL if it is further away. */
const struct rp_event *rp_matcher_look(const struct rp_matcher *matcher, size_t ahead);

/* Goes on to the next event. */
void rp_matcher_take(struct rp_matcher *matcher);

/* Events taken so far. */
uint64_t rp_matcher_position(const struct rp_matcher *matcher);

/* What the receive of that number matched. Ask in rising order of post, each once. False: never
 * matched as far as the record goes. */
bool rp_matcher_find(struct rp_matcher *matcher, uint64_t post, struct rp_match *out);

#endif
