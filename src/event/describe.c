/* SPDX-License-Identifier: MIT */
#include "event/describe.h"

#define U64(x) ((unsigned long long)(x))
#define SIGNED(name_, value_)                                                                      \
    ((struct rp_event_field){.name = name_,                                                        \
                             .value = (uint64_t)(int64_t)(value_),                                 \
                             .is_signed = true})
#define NUMBER(name_, value_) ((struct rp_event_field){.name = name_, .value = (value_)})
#define DETAIL(name_, value_)                                                                      \
    ((struct rp_event_field){.name = name_,                                                        \
                             .value = (uint64_t)(int64_t)(value_),                                 \
                             .is_signed = true,                                                    \
                             .is_detail = true})

static size_t fields_of_no(const struct rp_event *e, struct rp_event_field *out)
{
    out[0] = NUMBER("scope", e->scope);
    out[1] = NUMBER("times", e->no.times);
    out[2] = SIGNED("thread", e->no.thread);
    out[2].is_detail = e->no.thread == 0;
    out[3] = DETAIL("group_left", e->no.group_left);
    return 4;
}

static size_t fields_of_yes(const struct rp_event *e, struct rp_event_field *out)
{
    out[0] = NUMBER("requests", e->scope);
    out[1] = SIGNED("index", e->yes.index);
    out[2] = SIGNED("count", e->yes.count);
    out[3] = DETAIL("waitalls", e->yes.waitalls);
    return 4;
}

static size_t fields_of_message(const struct rp_event *e, struct rp_event_field *out)
{
    bool has_post = e->kind == RP_MATCH || e->kind == RP_FREED;

    out[0] = has_post ? NUMBER("post", e->match.post) : NUMBER("comm", e->scope);
    out[1] = SIGNED("source", e->match.source);
    out[2] = SIGNED("tag", e->match.tag);
    return 3;
}

static size_t fields_of_clock(const struct rp_event *e, struct rp_event_field *out)
{
    out[0] = SIGNED("sender", e->clock.sender);
    out[1] = NUMBER("clock", e->clock.clock);
    out[2] = SIGNED("index", e->clock.index);
    out[3] = DETAIL("clocks_left", rp_clock_left(e->scope));
    return 4;
}

static size_t fields_of_thread(const struct rp_event *e, struct rp_event_field *out)
{
    bool comes = e->kind == RP_THREAD;

    out[0] = SIGNED("thread", e->thread.number);
    out[1] = comes ? NUMBER("identity", e->thread.identity) : NUMBER("turns", e->turn.turns);
    out[1].is_identity = comes;
    return 2;
}

size_t rp_event_fields(const struct rp_event *event, struct rp_event_field out[RP_EVENT_FIELDS])
{
    switch (event->kind) {
    case RP_RECV:
    case RP_PROBE:
    case RP_MATCH:
    case RP_FREED:
        return fields_of_message(event, out);
    case RP_NO:
        return fields_of_no(event, out);
    case RP_YES:
        return fields_of_yes(event, out);
    case RP_CLOCK:
        return fields_of_clock(event, out);
    case RP_THREAD:
    case RP_TURN:
        return fields_of_thread(event, out);
    case RP_NEXT:
        out[0] = SIGNED("index", event->next.index);
        return 1;
    case RP_ERROR:
        out[0] = SIGNED("class", event->error.class);
        return 1;
    case RP_VALUE:
        out[0] = SIGNED("value", event->value.small);
        out[1] = DETAIL("large", 0);
        out[1].value = event->value.large;
        out[1].is_signed = false;
        return 2;
    default: /* CANCELLED, UNSENT */
        out[0] = NUMBER("number", event->unsent.cancel);
        return 1;
    }
}

void rp_event_put_fields(const struct rp_event *event, bool json, struct rp_buffer *out)
{
    struct rp_event_field fields[RP_EVENT_FIELDS];
    size_t count = rp_event_fields(event, fields);

    for (size_t i = 0; i < count; i++) {
        const struct rp_event_field *f = &fields[i];
        if (f->is_detail && !json)
            continue;
        rp_buffer_printf(out, json ? ", \"%s\": " : " %s=", f->name);
        if (f->is_signed)
            rp_buffer_printf(out, "%lld", (long long)f->value);
        else
            rp_buffer_printf(out, f->is_identity && !json ? "%016llx" : "%llu", U64(f->value));
    }
}

static void put_yes(const struct rp_event *e, struct rp_buffer *out)
{
    if (e->yes.index >= 0)
        rp_buffer_printf(out, "completed %d of %u requests, the first with index %d", e->yes.count,
                         e->scope, e->yes.index);
    else
        rp_buffer_printf(out, "answered yes for %u requests", e->scope);
}

void rp_event_put_words(const struct rp_event *e, struct rp_buffer *out)
{
    switch (e->kind) {
    case RP_RECV:
    case RP_PROBE:
        rp_buffer_printf(out, "%s the message from rank %d with tag %d on communicator %u",
                         e->kind == RP_RECV ? "took" : "found", e->match.source, e->match.tag,
                         e->scope);
        break;
    case RP_NO:
        rp_buffer_printf(out, "polled; %llu polls answered no up to the next event",
                         U64(e->no.times));
        break;
    case RP_YES:
        put_yes(e, out);
        break;
    case RP_NEXT:
        rp_buffer_printf(out, "completed the request with index %d, too", e->next.index);
        break;
    case RP_MATCH:
    case RP_FREED:
        rp_buffer_printf(out, "receive %llu had the message from rank %d with tag %d",
                         U64(e->match.post), e->match.source, e->match.tag);
        break;
    case RP_CANCELLED:
        rp_buffer_printf(out, "receive %llu was cancelled", U64(e->match.post));
        break;
    case RP_UNSENT:
        rp_buffer_printf(out, "the send of cancel %llu was cancelled", U64(e->unsent.cancel));
        break;
    case RP_ERROR:
        rp_buffer_printf(out, "failed with error class %d", e->error.class);
        break;
    case RP_THREAD:
        rp_buffer_printf(out, "thread %d came, with identity %016llx", e->thread.number,
                         U64(e->thread.identity));
        break;
    case RP_TURN:
        rp_buffer_printf(out, "the turn went to thread %d, after %llu turns", e->turn.thread,
                         U64(e->turn.turns));
        break;
    case RP_VALUE:
        rp_buffer_printf(out, "told %d and %llu", e->value.small, U64(e->value.large));
        break;
    default:
        rp_buffer_printf(out, "received a message of rank %d", e->clock.sender);
    }
}
