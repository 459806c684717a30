/* SPDX-License-Identifier: MIT */
/* Codecs: events <-> the payload of an EVENTS chunk. Each is a pair of functions, chosen by name or number. */
#ifndef RP_CODEC_H
#define RP_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "event/event.h"

enum { RP_CHUNK_EVENTS = 16384, RP_CHUNK_EVENTS_LIMIT = 65536, RP_CHUNK_BYTES_LIMIT = 1 << 26 };

struct rp_codec {
    uint16_t id;
    const char *name;
    /* Appends the payload to `out`; `raw` is set to its length before general-purpose compression. `scratch` keeps memory between calls. */
    enum rp_status (*encode)(const struct rp_event *events, size_t count, struct rp_buffer *scratch,
                             struct rp_buffer *out, uint32_t *raw);
    /* Fills exactly `count` events. */
    enum rp_status (*decode)(const uint8_t *bytes, size_t length, uint32_t raw, size_t count,
                             struct rp_buffer *scratch, struct rp_event *events,
                             struct rp_problem *why);
};

extern const struct rp_codec rp_codec_tables;

/* NULL if there is none. */
const struct rp_codec *rp_codec_by_id(uint16_t id);
const struct rp_codec *rp_codec_by_name(const char *name);

#endif
