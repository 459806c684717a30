/* SPDX-License-Identifier: MIT */
/* Events in words, and as named fields: for replays that diverge, `reprise dump` and `reprise
 * diff`. */
#ifndef RP_DESCRIBE_H
#define RP_DESCRIBE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "event/event.h"

enum { RP_EVENT_FIELDS = 4 };

struct rp_event_field {
    const char *name;
    uint64_t value;
    bool is_signed, is_identity; /* of a thread: sixteen hexadecimal digits where people read it */
    bool is_detail;              /* left out where people read it */
};

/* The fields of its kind, beside kind, site and posts. Returns how many there are. */
size_t rp_event_fields(const struct rp_event *event, struct rp_event_field out[RP_EVENT_FIELDS]);

/* " name=value" of each field that is no detail, or ", \"name\": value" of all. */
void rp_event_put_fields(const struct rp_event *event, bool json, struct rp_buffer *out);

/* What the event tells: "took the message from rank 1 with tag 7 on communicator 0". */
void rp_event_put_words(const struct rp_event *event, struct rp_buffer *out);

#endif
