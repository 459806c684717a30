/* SPDX-License-Identifier: MIT */
/* Events in words and as named fields, for messages about divergence, `reprise dump` and `reprise
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
    bool is_signed, is_identity; /* is_identity: the identity of a thread, printed for people as
                                    sixteen hexadecimal digits */
    bool is_detail;              /* left out in text for people */
};

/* Sets `out` to the fields that the event's kind has besides kind, site and posts. Returns how many
 * there are. */
size_t rp_event_fields(const struct rp_event *event, struct rp_event_field out[RP_EVENT_FIELDS]);

/* Appends " name=value" for each field that is no detail, or with `json` ", \"name\": value" for
 * all. */
void rp_event_put_fields(const struct rp_event *event, bool json, struct rp_buffer *out);

/* Appends the event as a phrase: "took the message from rank 1 with tag 7 on communicator 0". */
void rp_event_put_words(const struct rp_event *event, struct rp_buffer *out);

/* What a command prints behind its verdict on a run without events. */
#define RP_NOTHING_OPEN                                                                            \
    "there are no events: MPI left nothing open in this run, so there was nothing to choose and "  \
    "nothing to compare"

#endif
