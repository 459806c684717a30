/* SPDX-License-Identifier: MIT */
/* Codecs turn events into the payload of an EVENTS chunk, and back. A codec is a table of
 * functions, found by name or by number. */
#ifndef RP_CODEC_H
#define RP_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "event/event.h"

enum {
    RP_CHUNK_EVENTS = 16384,
    RP_CHUNK_EVENTS_LIMIT = 65536,
    RP_SPAN_EVENTS = 262144,
    RP_CHUNK_BYTES_LIMIT = 1 << 26
};

struct rp_codec {
    uint8_t id;
    const char *name;
    bool continues; /* the state that a chunk leaves helps with the next one; writer and reader may
                       both reset it in between */
    /* What both directions keep between chunks. It is to be reset before its first use. open
     * returns NULL if there is no memory. */
    void *(*open)(void);
    void (*close)(void *state);
    void (*reset)(void *state);
    /* Appends the payload of `count` events to `out`. */
    enum rp_status (*encode)(void *state, const struct rp_event *events, size_t count,
                             struct rp_buffer *out);
    /* Sets exactly `count` events. After a failure the state must be reset. */
    enum rp_status (*decode)(void *state, const uint8_t *bytes, size_t length, size_t count,
                             struct rp_event *events, struct rp_problem *why);
};

extern const struct rp_codec rp_codec_tables, rp_codec_mix;

/* These return NULL if there is no such codec. */
const struct rp_codec *rp_codec_by_id(uint8_t id);
const struct rp_codec *rp_codec_by_name(const char *name);

#endif
