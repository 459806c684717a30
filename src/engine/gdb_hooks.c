/* SPDX-License-Identifier: MIT */
#include "engine/gdb_hooks.h"

#include <stddef.h>

#include "entry/thread_state.h"

volatile uint64_t reprise_return_address;
struct reprise_place reprise_place;
const struct rp_requests *const reprise_receives = &rp_state.requests;

/* reprise.gdb reads them by these numbers. */
_Static_assert(offsetof(struct reprise_place, next) == 32 &&
                   offsetof(struct rp_event, any.a) == 16 &&
                   offsetof(struct rp_event, any.b) == 20 && offsetof(struct rp_event, any.c) == 24,
               "place");
_Static_assert(offsetof(struct reprise_place, kind) == 64 &&
                   offsetof(struct reprise_place, function) == 72,
               "place");
_Static_assert(RP_RECV == 1 && RP_PROBE == 2 && RP_NO == 3 && RP_YES == 4 && RP_MATCH == 6,
               "kinds");
_Static_assert(offsetof(struct rp_requests, slots) == 0 &&
                   offsetof(struct rp_requests, mask) == 8 && RP_REQUEST_SIZE == 64,
               "receives");
_Static_assert(offsetof(struct rp_request, handle) == 0 &&
                   offsetof(struct rp_request, flags) == 8 &&
                   offsetof(struct rp_request, post) == 16 &&
                   offsetof(struct rp_request, source) == 48 &&
                   offsetof(struct rp_request, tag) == 52 && RP_REQUEST_RECEIVE == 1 &&
                   RP_REQUEST_GHOST == 32,
               "receive");

__attribute__((noinline)) void reprise_event(void)
{
    __asm__ volatile("");
}

void rp_gdb_hook_place(uint64_t done, const struct rp_event *next, const char *function)
{
    reprise_place.done = done;
    reprise_place.kind = next ? rp_event_name(next->kind) : NULL;
    if (!next)
        return;
    reprise_place.next = *next;
    reprise_place.function = function;
}

void rp_gdb_hook_begin(int rank, uint64_t total)
{
    reprise_place.rank = (uint64_t)rank;
    reprise_place.total = total;
    reprise_place.begun = 1;
}
