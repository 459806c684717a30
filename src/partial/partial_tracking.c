/* SPDX-License-Identifier: MIT */
/*
 * Window memory of a tracked program (window/tracking.h) stays where it is: others store into it at
 * any time, and the program sees that at any load. A shadow has what the memory of the rank has in
 * a partial replay, at the same point of the program: what it last stored, loaded, or got from MPI.
 * A load that returns something else is written into a log of its own, by its number among all
 * loads, its place and its value; the shadow follows. In a partial replay there is no shadow: at
 * the load with that number, the value is put into memory, and the load returns it.
 *
 * At calls that synchronise, windows are compared with their shadows as those of other programs are
 * (partial_window_memory.c): so code that is not tracked sees there what it saw. Where MPI itself
 * puts something into window memory, the shadow gets what the entry of the call gets.
 *
 * If the program calls before its accesses (cc/track_calls.c), its windows have two copies
 * (partial_window_memory.c), and their shadows are these. What such a call brings in is written
 * down in the same way.
 *
 * Marks of the time, of loads that are written down, say from when a loaded value is
 * (log/order_log.h). If accesses are traced, a partial replay traces such loads, and all
 * stores (partial_access_trace.c).
 */
#include "partial/partial_tracking.h"

#include <dlfcn.h>
#include <string.h>

#include "base/diagnostics.h"
#include "partial/partial_packing.h"
#include "partial/partial_tracked_plugin.h"
#include "reprise.h"

bool rp_tracked(void)
{
    return rp_tracking.track != NULL;
}

bool rp_tracked_in_place(void)
{
    return rp_tracking.track && !rp_tracking.is_parted;
}

static struct reprise_track *find(void)
{
    return dlsym(RTLD_DEFAULT, "reprise_track");
}

static enum rp_status check_ways(struct rp_problem *why)
{
    if ((find()->ways & REPRISE_TRACK_BY_PLUGIN) && (find()->ways & REPRISE_TRACK_BY_CALLS))
        return rp_fail(
            why, RP_USAGE,
            "some of the program or its libraries was compiled by 'reprise-cc --track=plugin', "
            "some by '--track=calls': compile all of it by one of them");
    return RP_OK;
}

/* Memory that has a region already: it is used once more. A new one, which is not named yet,
 * else. */
static struct rp_tracked *use(void *memory, size_t size, bool *is_new)
{
    struct rp_tracked *t = rp_tracked_around(&rp_tracking.regions, memory, size);
    struct rp_problem why;

    if (check_ways(&why) != RP_OK) { /* a library may have been loaded later */
        rp_error("%s", why.text);
        rp_data_end_job(REPRISE_EXIT_USAGE);
    }
    *is_new = !t;
    if (!t && rp_tracked_touches(&rp_tracking.regions, memory, size)) {
        rp_error(
            "a window has memory in common with another one before it, but is not all within that: "
            "of a program that was compiled by reprise-cc --track, that cannot be recorded");
        rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
    }
    if (!t)
        t = rp_tracked_insert(&rp_tracking.regions, memory, size);
    t->uses++;
    return t;
}

uint8_t *rp_track_add(void *memory, size_t size, bool is_known)
{
    enum { LINE = 64 };
    bool is_new;

    if (!rp_tracking.track || size == 0)
        return NULL;
    struct rp_tracked *t = use(memory, size, &is_new);
    if (!is_new)
        return t->shadow ? t->shadow + ((uintptr_t)memory - t->at) : NULL;
    if (!rp_partial.is_feeding) {
        uint8_t *room = t->owned = rp_track_allocate(size + 2 * LINE);
        t->shadow = room + (t->at - (uintptr_t)room) % LINE;
        if (is_known)
            memcpy(t->shadow, memory, size);
    }
    uint8_t *shadow = t->shadow;
    rp_tracked_name(&rp_tracking.regions);
    return shadow;
}

void rp_track_part(const struct rp_shadow *memory)
{
    bool is_new;

    if (!rp_tracking.is_parted || memory->size == 0)
        return;
    struct rp_tracked *t = use(memory->own, memory->size, &is_new);
    if (is_new) {
        t->shadow = memory->shadow;
        t->public = memory->public;
        rp_tracked_name(&rp_tracking.regions);
    }
}

void rp_track_remove(const void *memory, size_t size)
{
    struct rp_tracked *t = rp_tracking.track && size > 0
                               ? rp_tracked_around(&rp_tracking.regions, memory, size)
                               : NULL;

    if (!t || --t->uses > 0)
        return;
    rp_tracking.track->stored = 0;
    rp_tracked_remove(&rp_tracking.regions, t);
}

/* What MPI returned */

const void *rp_track_taken(const void *bytes, size_t size)
{
    if (!rp_tracked_touches(&rp_tracking.regions, bytes, size))
        return bytes;
    if (rp_tracking.is_parted) {
        rp_partial.hooks->stores_out(); /* before the program says by a store that it is there */
        return bytes;
    }
    void *copied = rp_track_copy_of(bytes, size);
    rp_track_set_shadows(bytes, copied, size);
    return copied;
}

bool rp_track_touches(const void *at, size_t size)
{
    return rp_tracked_touches(&rp_tracking.regions, at, size);
}

bool rp_track_to_shadow(const void *at, size_t size, ptrdiff_t *distance)
{
    struct rp_tracked *t = rp_tracked_around(&rp_tracking.regions, at, size);

    if (t)
        *distance = (ptrdiff_t)((uintptr_t)t->shadow - t->at);
    return t != NULL;
}

void rp_track_unpacked(const struct rp_area *area, int64_t count, const uint8_t *packed,
                       size_t length)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    ptrdiff_t distance = 0;

    if (!rp_tracked())
        return;
    rp_pmpi.Type_get_extent(area->type, &lb, &extent);
    rp_pmpi.Type_get_true_extent(area->type, &true_lb, &true_extent);
    MPI_Aint more = (MPI_Aint)(count - 1) * extent;
    const void *first = (const void *)((intptr_t)area->buf + true_lb + (more < 0 ? more : 0));
    size_t span = (size_t)(true_extent + (more < 0 ? -more : more));
    if (!rp_track_touches(first, span))
        return;
    if (rp_tracking.is_parted) {
        rp_partial.hooks->stores_out();
        return;
    }
    if (!area->buf || !rp_track_to_shadow(first, span, &distance)) {
        rp_error("a message was received into window memory and outside of it, or by absolute "
                 "addresses: of a program that was compiled by reprise-cc --track, that cannot be "
                 "recorded");
        rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
    }
    rp_packing_unpack(packed, length, (void *)((uintptr_t)area->buf + (uintptr_t)distance), count,
                      area->type);
}

/* Beginning and end */

static void forget_in_child(void)
{
    rp_data_off = 1;
}

static enum rp_status check_version(struct rp_problem *why)
{
    const size_t *size = dlsym(RTLD_DEFAULT, "reprise_track_size");

    if (size && *size == sizeof(struct reprise_track))
        return check_ways(why);
    return rp_fail(why, RP_USAGE,
                   "the program was compiled by 'reprise-cc --track' of another version of "
                   "reprise: compile it again");
}

static void begin(void)
{
    const int **off = dlsym(RTLD_DEFAULT, "reprise_track_off");

    struct reprise_track *track = rp_tracking.track = find();
    rp_tracking.regions.track = track;
    rp_tracking.regions.are_numbered = !rp_partial.is_feeding;
    rp_tracking.thread = pthread_self();
    track->loads = rp_tracking.writer ? rp_data_loads(rp_tracking.writer) : &rp_tracking.loads_made;
    rp_track_by_plugin(track);
    rp_tracking.is_parted = track->ways & REPRISE_TRACK_BY_CALLS;
    if (rp_tracking.is_parted)
        rp_track_by_calls(track);
    if (off)
        *off = &rp_data_off;
    pthread_atfork(NULL, NULL, forget_in_child);
}

enum rp_status rp_track_record(const char *directory, uint64_t run, int rank, int ranks,
                               struct rp_problem *why)
{
    enum rp_status status = RP_OK;

    if (!find())
        return RP_OK;
    status = check_version(why);
    if (status != RP_OK)
        return status;
    rp_data_note_tracked(rp_partial.writer);
    status = rp_data_create(directory, run, (uint32_t)rank, (uint32_t)ranks, NULL,
                            &rp_tracking.writer, why);
    if (status != RP_OK)
        return status;
    begin();
    if (rp_tracking.is_parted) {
        rp_data_begin(rp_tracking.writer, RP_TRACK_CALLS, rp_track_names[RP_TRACK_CALLS]);
        rp_data_end(rp_tracking.writer);
    }
    return RP_OK;
}

enum rp_status rp_track_follow(const char *directory, uint64_t run, int rank, int ranks,
                               struct rp_problem *why)
{
    if (!rp_data_is_tracked(rp_partial.reader))
        return RP_OK;
    if (!find())
        return rp_fail(why, RP_USAGE,
                       "rank %d was recorded with its loads from window memory, but this program "
                       "was not compiled by reprise-cc --track",
                       rank);
    enum rp_status status = check_version(why);
    if (status == RP_OK)
        status = rp_data_open_loads(directory, run, (uint32_t)rank, (uint32_t)ranks,
                                    &rp_tracking.reader, why);
    if (status != RP_OK)
        return status;
    begin();
    rp_track_read_next();
    if (rp_tracking.was_parted != rp_tracking.is_parted)
        return rp_fail(why, RP_USAGE,
                       "rank %d was recorded with a program that was compiled by reprise-cc "
                       "--track=%s, but this one was not",
                       rank, rp_tracking.was_parted ? "calls" : "plugin");
    return RP_OK;
}

void rp_track_check_end(void)
{
    if (rp_tracking.track && *rp_tracking.track->loads + 1 != rp_tracking.next.due &&
        rp_data_is_ended(rp_tracking.reader))
        rp_track_differs("the program ends; more were recorded");
}

uint64_t rp_track_close(void)
{
    struct rp_problem why;
    uint64_t bytes = 0;

    if (!rp_tracking.track)
        return 0;
    rp_tracking.loads_made = *rp_tracking.track->loads;
    rp_tracking.track->loads = &rp_tracking.loads_made;
    if (!rp_tracking.writer)
        return 0;
    rp_data_begin(rp_tracking.writer, RP_TRACK_END, rp_track_names[RP_TRACK_END]);
    rp_data_put_number(rp_tracking.writer, rp_tracking.loads_made - rp_tracking.last_logged);
    rp_data_end(rp_tracking.writer);
    if (rp_data_close(rp_tracking.writer, &bytes, &why) != RP_OK)
        rp_error("%s", why.text);
    rp_tracking.writer = NULL;
    return bytes;
}
