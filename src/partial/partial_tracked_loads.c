/* SPDX-License-Identifier: MIT */
/*
 * The log of loads (OPR's value log): loads that differ from the shadow are logged by number and
 * fed back at that number.
 */
#include "partial/partial_tracked_loads.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "partial/partial_entries.h"
#include "partial/partial_marks.h"
#include "reprise.h"

struct rp_tracking rp_tracking;
const char *const rp_track_names[] = {"load", "end", "calls"};

void *rp_track_allocate(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory");
    return memory;
}

static struct {
    void *bytes;
    size_t size;
} scratch;

void *rp_track_copy_of(const void *bytes, size_t size)
{
    if (size > scratch.size) {
        free(scratch.bytes);
        scratch.bytes = rp_track_allocate(size);
        scratch.size = size;
    }
    return memcpy(scratch.bytes, bytes, size);
}

bool rp_track_passes(const void *at, size_t size)
{
    if (!RP_PASSES)
        return false;
    if (!pthread_equal(rp_tracking.thread, pthread_self()) &&
        rp_tracked_touches(&rp_tracking.regions, at, size)) {
        rp_error("a thread other than the one that calls MPI uses window memory: a program that "
                 "was compiled by reprise-cc --track cannot be %s then",
                 rp_partial.is_feeding ? "replayed alone" : "recorded with its data");
        rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
    }
    return true;
}

void rp_track_read_next(void)
{
    struct rp_problem why;
    const char *name;

    enum rp_status status = rp_data_next(rp_tracking.reader, &name, &why);
    if (status == RP_OK && name && strcmp(name, rp_track_names[RP_TRACK_CALLS]) == 0) {
        rp_tracking.was_parted = true;
        status = rp_data_next(rp_tracking.reader, &name, &why);
    }
    bool is_load = status == RP_OK && name && strcmp(name, rp_track_names[RP_TRACK_LOAD]) == 0;
    uint64_t gap = status == RP_OK && name ? rp_data_get_number(rp_tracking.reader) : 0;

    rp_tracking.next.is_end = !is_load;
    if (is_load) {
        rp_tracking.next.place = rp_data_get_number(rp_tracking.reader);
        rp_tracking.next.bytes = rp_data_get_content(rp_tracking.reader, &rp_tracking.next.length);
    }
    if (status == RP_OK)
        status = rp_data_failed(rp_tracking.reader, &why);
    if (status == RP_OK &&
        ((is_load && gap == 0) || (!name && rp_data_is_ended(rp_tracking.reader))))
        status = rp_fail(&why, RP_DAMAGED, "it does not go on with a load, or its end");
    if (status != RP_OK) {
        rp_error("in the log of loads, after load %llu: %s",
                 (unsigned long long)rp_tracking.last_logged, why.text);
        rp_data_end_job(rp_exit_status(status));
    }
    if (is_load)
        rp_tracking.next.due = rp_tracking.last_logged = rp_tracking.last_logged + gap;
    else
        rp_tracking.next.due =
            (name ? rp_tracking.last_logged + gap : rp_data_loads_made(rp_tracking.reader)) + 1;
}

void rp_track_record_load(const struct rp_tracked *t, uintptr_t from, uint8_t *value, size_t size)
{
    uint8_t *shadow = t->shadow + (from - t->at);
    uint64_t number = ++*rp_tracking.track->loads;

    if (memcmp(shadow, value, size) == 0)
        return;
    memcpy(shadow, value, size);
    rp_data_begin(rp_tracking.writer, RP_TRACK_LOAD, rp_track_names[RP_TRACK_LOAD]);
    rp_data_put_number(rp_tracking.writer, number - rp_tracking.last_logged);
    rp_data_put_number(rp_tracking.writer, from - t->at);
    rp_data_put_content(rp_tracking.writer, value, size);
    rp_data_end(rp_tracking.writer);
    rp_tracking.last_logged = number;
    rp_marks_loads(number);
}

void rp_track_differs(const char *what)
{
    rp_error("not the recorded run: at load %llu from window memory, %s",
             (unsigned long long)*rp_tracking.track->loads, what);
    rp_data_end_job(REPRISE_EXIT_DIVERGED);
}

void rp_track_tell(bool loads, const void *at, const void *value, size_t size)
{
    if (!rp_partial.is_traced)
        return;
    rp_partial.caller = rp_tracking.track->caller;
    rp_partial.caller_stack = rp_tracking.track->caller_stack;
    rp_partial.hooks->accessed(loads, at, value, size, *rp_tracking.track->loads + !loads);
}

void rp_track_feed_load(const struct rp_tracked *t, uintptr_t from, uint8_t *value, size_t size)
{
    if (++*rp_tracking.track->loads != rp_tracking.next.due) {
        memcpy(value, (void *)from, size); /* one instruction may load a place several times: the
                                              value of the first load is there */
        return;
    }
    if (rp_tracking.next.is_end && !rp_data_is_ended(rp_tracking.reader))
        rp_partial_feed_stop("a load from window memory");
    if (rp_tracking.next.is_end)
        rp_track_differs("more than were recorded");
    if (rp_tracking.next.place != from - t->at || rp_tracking.next.length != size)
        rp_track_differs("the program loads from another place");
    memcpy((void *)from, rp_tracking.next.bytes, size);
    memcpy(value, rp_tracking.next.bytes, size);
    rp_track_tell(true, (void *)from, value, size);
    rp_track_read_next();
}
