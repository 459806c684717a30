/* SPDX-License-Identifier: MIT */
/*
 * What code by a compiler without a plugin calls (cc/track_calls.c): before its loads and stores.
 * Its windows stay parted, so what others stored comes in before a load, and what the program
 * stored goes out when it next calls anything.
 */
#include "partial/partial_tracked_calls.h"

#include <string.h>

#include "base/diagnostics.h"
#include "reprise.h"

/* Feeding, traced: a store is logged when it is seen to be made. */
static struct {
    uintptr_t caller, stack;
} store;

static void remember_store(void *at, size_t size)
{
    if (!rp_partial.is_traced)
        return;
    rp_tracking.track->stored_at = at;
    rp_tracking.track->stored = size;
    rp_tracking.track->looked = 0;
    store.caller = rp_tracking.track->caller;
    store.stack = rp_tracking.track->caller_stack;
}

static void tell_store(void)
{
    uintptr_t caller = rp_tracking.track->caller, stack = rp_tracking.track->caller_stack;
    bool made = rp_partial.hooks->differs(rp_tracking.track->stored_at, rp_tracking.track->stored);

    rp_tracking.track->caller = store.caller;
    rp_tracking.track->caller_stack = store.stack;
    if (made)
        rp_track_tell(false, rp_tracking.track->stored_at, rp_tracking.track->stored_at,
                      rp_tracking.track->stored);
    if (made || rp_tracking.track->looked++ > 0)
        rp_tracking.track->stored = 0;
    rp_tracking.track->caller = caller;
    rp_tracking.track->caller_stack = stack;
}

static void settle(void)
{
    uintptr_t from, at = (uintptr_t)rp_tracking.track->stored_at;
    size_t size = rp_tracking.track->stored;
    bool made = false;

    if (rp_partial.is_traced && size > 0)
        tell_store();
    if (RP_PASSES || rp_partial.is_feeding || size == 0)
        return;
    for (size_t i = rp_tracked_first(&rp_tracking.regions, at), part;
         (part = rp_tracked_part(&rp_tracking.regions, i, at, size, &from)) > 0; i++)
        made |= rp_tracked_give(&rp_tracking.regions.region[i], from, part, false);
    if (made || rp_tracking.track->looked++ > 0)
        rp_tracking.track->stored = 0;
}

void rp_track_settle_now(void)
{
    if (rp_tracking.track->stored > 0) {
        rp_tracking.track->looked = 1;
        settle();
    }
}

static void bring_in(const struct rp_tracked *t, uintptr_t from, size_t size)
{
    uint8_t small[64],
        *value = size <= sizeof small ? small : rp_track_copy_of((const void *)from, size);

    rp_tracked_give_untold(t, from, size);
    rp_tracked_take(t, from, value, size);
    rp_track_record_load(t, from, value, size);
    memcpy((void *)from, value, size);
}

static void bring_in_all(const void *at, size_t size)
{
    uintptr_t from;
    uint8_t unused[64];

    for (size_t i = rp_tracked_first(&rp_tracking.regions, (uintptr_t)at), part;
         (part = rp_tracked_part(&rp_tracking.regions, i, (uintptr_t)at, size, &from)) > 0; i++)
        if (rp_partial.is_feeding)
            rp_track_feed_load(&rp_tracking.regions.region[i], from,
                               part <= sizeof unused ? unused
                                                     : rp_track_copy_of((const void *)from, part),
                               part);
        else
            bring_in(&rp_tracking.regions.region[i], from, part);
}

static void calls_read(const void *at, size_t size)
{
    if (!rp_track_passes(at, size))
        bring_in_all(at, size);
}

static void calls_write(void *at, size_t size)
{
    if (rp_track_passes(at, size) || !rp_tracked_touches(&rp_tracking.regions, at, size))
        return;
    bring_in_all(at, size);
    if (rp_partial.is_feeding) {
        remember_store(at, size);
        return;
    }
    rp_tracking.track->stored_at = at;
    rp_tracking.track->stored = size;
    rp_tracking.track->looked = 0;
}

static void give_all(void *at, size_t size)
{
    uintptr_t from;

    for (size_t i = rp_tracked_first(&rp_tracking.regions, (uintptr_t)at), part;
         (part = rp_tracked_part(&rp_tracking.regions, i, (uintptr_t)at, size, &from)) > 0 &&
         !rp_partial.is_feeding;
         i++)
        rp_tracked_give(&rp_tracking.regions.region[i], from, part, true);
}

static void calls_copy(void *to, const void *from, size_t size)
{
    bool near_from = rp_tracked_touches(&rp_tracking.regions, from, size),
         near_to = rp_tracked_touches(&rp_tracking.regions, to, size),
         tracked = (near_from || near_to) && !rp_track_passes(near_from ? from : to, size);

    if (tracked) {
        rp_track_settle_now();
        bring_in_all(from, size);
    }
    memmove(to, from, size);
    if (tracked)
        rp_track_tell(false, to, to, size);
    if (tracked)
        give_all(to, size);
}

static void calls_fill(void *to, int byte, size_t size)
{
    bool tracked = rp_tracked_touches(&rp_tracking.regions, to, size) && !rp_track_passes(to, size);

    if (tracked)
        rp_track_settle_now();
    memset(to, byte, size);
    if (tracked)
        rp_track_tell(false, to, to, size);
    if (tracked)
        give_all(to, size);
}

static void release(void)
{
    if (rp_partial.is_feeding)
        return;
    rp_track_settle_now();
    rp_partial.hooks->stores_out();
}

static void *calls_begin(void *at, size_t size, int reads)
{
    struct rp_tracked *t = rp_tracked_around(&rp_tracking.regions, at, size);

    if (!t || rp_track_passes(at, size))
        return at;
    rp_track_settle_now();
    if (rp_partial.is_feeding) {
        if (reads)
            bring_in_all(at, size);
        remember_store(at, size);
        return at;
    }
    rp_tracked_give_untold(t, (uintptr_t)at, size);
    return t->public + ((uintptr_t)at - t->at);
}

static void calls_made(void *at, const void *old, const void *now, size_t size)
{
    struct rp_tracked *t = rp_tracked_around(&rp_tracking.regions, at, size);
    uint8_t value[16];

    if (old)
        rp_track_record_load(t, (uintptr_t)at, memcpy(value, old, size), size);
    memcpy(t->shadow + ((uintptr_t)at - t->at), now, size);
    memcpy(at, now, size);
}

static void calls_refuse(const void *at, size_t size, const char *what)
{
    if (!rp_tracked_touches(&rp_tracking.regions, at, size))
        return;
    rp_error("%s: a lock in window memory cannot be shared by a program that was compiled by "
             "reprise-cc --track=calls; compile it by a compiler for which there is a plugin",
             what);
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}

void rp_track_by_calls(struct reprise_track *track)
{
    track->copy = calls_copy;
    track->fill = calls_fill;
    track->read = calls_read;
    track->write = calls_write;
    track->settle = settle;
    track->release = release;
    track->begin = calls_begin;
    track->made = calls_made;
    track->refuse = calls_refuse;
}
