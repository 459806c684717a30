/* SPDX-License-Identifier: MIT */
#include "engine/replay_watch.h"

#include <stdarg.h>
#include <stdio.h>

#include "engine/replay_follow.h"
#include "event/event.h"
#include "mpi/self.h"

volatile uint64_t reprise_event_number, reprise_return_address;

static char text[16384];
static size_t length;

__attribute__((noinline)) void reprise_event(void)
{
    __asm__ volatile("");
}

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    va_list arguments;

    if (length >= sizeof text - 1)
        return;
    va_start(arguments, format);
    length += (size_t)vsnprintf(text + length, sizeof text - length, format, arguments);
    va_end(arguments);
}

static void put_event(const struct rp_event *event, const char *function)
{
    put("%s in %s", rp_event_name(event->kind), function);
    if (event->kind == RP_RECV || event->kind == RP_PROBE || event->kind == RP_MATCH)
        put(", from rank %d with tag %d", event->a, event->b);
    else if (event->kind == RP_YES)
        put(", index %d, %d of them", event->a, event->b);
    else if (event->kind == RP_NO)
        put(", %llu times", (unsigned long long)event->c);
}

const char *reprise_where(void)
{
    struct rp_follow_place place;

    length = 0;
    text[0] = 0;
    if (!rp_follow_place(&place)) {
        put("no replay has begun in this process\n");
        return text;
    }
    put("rank %d: %llu of %llu events replayed", place.rank, (unsigned long long)place.done, (unsigned long long)place.total);
    if (place.next) {
        put("; next is event %llu: ", (unsigned long long)place.done);
        put_event(place.next, place.function);
    } else if (place.done < place.total) {
        put("; the next is not loaded yet");
    } else {
        put("; this is the end of the record");
    }
    put("\n");
    return text;
}

/* The receive under way with the smallest number that is not below. */
static const struct rp_request *next_pending(uint64_t least)
{
    const struct rp_request *found = NULL;

    for (uint64_t i = 0; rp_state.requests.slots && i < rp_requests_room(&rp_state.requests); i++) {
        const struct rp_request *entry = &rp_state.requests.slots[i];
        if (entry->handle && entry->flags & RP_REQUEST_RECEIVE && entry->post >= least && (!found || entry->post < found->post))
            found = entry;
    }
    return found;
}

static void put_end(int32_t value, int any, const char *name)
{
    if (value == any)
        put("any %s", name);
    else
        put("%s %d", name, value);
}

const char *reprise_pending(void)
{
    const struct rp_request *entry;
    struct rp_follow_place place;

    length = 0;
    text[0] = 0;
    for (uint64_t least = 0; (entry = next_pending(least)) != NULL; least = entry->post + 1) {
        put("receive %llu, request 0x%llx: ", (unsigned long long)entry->post, (unsigned long long)entry->handle);
        if (entry->flags & RP_REQUEST_GHOST) {
            put("takes nothing in the record\n");
            continue;
        }
        put("takes a message from ");
        put_end(entry->source, MPI_ANY_SOURCE, "rank");
        put(" with ");
        put_end(entry->tag, MPI_ANY_TAG, "tag");
        put("\n");
    }
    if (length == 0)
        put(rp_follow_place(&place) ? "no receive is under way\n" : "no replay has begun in this process\n");
    return text;
}
