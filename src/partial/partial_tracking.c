/* SPDX-License-Identifier: MIT */
/*
 * Window memory of a tracked program (window/tracking.h). It stays where it is: others store into
 * it at any time, and the program sees that at any load. A shadow has what the memory of the rank
 * alone has at the same point of the program: what it last stored, loaded, or was told by MPI. A
 * load that gives something else is written down, by its number among all loads, its place and its
 * value, in a log of its own; the shadow follows. Alone there is no shadow: at the load with that
 * number the value is put into memory, and the load gives it.
 *
 * At calls that synchronise, windows are compared with their shadows as ever (data_windows.c): so
 * code that was not compiled so sees there what it saw. Where MPI itself puts something into window
 * memory, the shadow gets what the entry of the call gets.
 *
 * If the program calls before its accesses (cc/track_calls.c), its windows stay parted
 * (data_windows.c), and their shadows are these. What such a call brings in is written down as a
 * load that gives something else is; alone it is put into memory by the same number.
 *
 * Who wrote what is loaded is told from when: marks of the time, of loads that are written down
 * (log/window_sync_log.h). Alone, if it is asked for, such loads are told of, and all stores
 * (data_trace.c).
 *
 * An access that is not within one region is taken apart: what is in several regions is a load of
 * each, in the order of addresses; what is in none is the program's own.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "window/tracking.h"
#include "partial/partial.h"
#include "reprise.h"

enum { LOAD, END, CALLS };
static const char *const names[] = {"load", "end", "calls"};

struct tracked {
    uintptr_t at;
    size_t size;
    uint8_t *shadow; /* alone NULL */
    uint8_t *public; /* recording, if the program calls: what others see */
    void *owned;
    unsigned uses; /* windows that have this memory, or a part of it */
};

static struct reprise_track *track; /* the program's; NULL: nothing is tracked */
static pthread_t thread;            /* whose loads these are */
static struct tracked *regions;     /* in the order of addresses */
static size_t region_count, region_room;
static uint64_t told; /* the number of the last load in the log that was written or read */

/* Recording */
static struct rp_data_writer *writer;

/* Alone */
static struct rp_data_reader *reader;
static uint64_t loads_made;
static bool was_parted;
static struct {
    uint64_t due; /* the load that gives it */
    bool is_end;
    uint64_t place;
    const uint8_t *bytes;
    size_t length;
} next;

bool rp_track_parted;

bool rp_tracked(void)
{
    return track != NULL;
}

bool rp_tracked_in_place(void)
{
    return track && !rp_track_parted;
}

static struct reprise_track *find(void)
{
    return dlsym(RTLD_DEFAULT, "reprise_track");
}

/* Regions */

static void name_region(size_t i)
{
    enum { PAGE = 1 << REPRISE_TRACK_PAGE, MASK = REPRISE_TRACK_SLOTS - 1 };
    const struct tracked *t = &regions[i];
    uint8_t number = i + 1 < REPRISE_TRACK_SEVERAL && !rp_partial_is_feeding
                         ? (uint8_t)(i + 1)
                         : REPRISE_TRACK_SEVERAL;
    uintptr_t first = (t->at - (REPRISE_TRACK_WIDEST - 1)) / PAGE,
              last = (t->at + t->size - 1) / PAGE;

    if (last - first >= REPRISE_TRACK_SLOTS)
        last = first + MASK;
    if (number < REPRISE_TRACK_SEVERAL)
        track->region[number] =
            (struct reprise_region){.at = t->at,
                                    .begins_8 = t->size < 8 ? 0 : t->size - 7,
                                    .begins_16 = t->size < 16 ? 0 : t->size - 15,
                                    .to_shadow = (intptr_t)((uintptr_t)t->shadow - t->at),
                                    .size = t->size,
                                    .to_public =
                                        t->public ? (intptr_t)((uintptr_t)t->public - t->at) : 0};
    for (uintptr_t page = first; page <= last; page++) {
        uint8_t *slot = &track->slot[page & MASK];
        *slot = *slot == 0 || *slot == number ? number : REPRISE_TRACK_SEVERAL;
    }
}

static void name_regions(void)
{
    memset(track->slot, 0, sizeof track->slot);
    memset(track->region, 0, sizeof track->region);
    for (size_t i = 0; i < region_count; i++)
        name_region(i);
    track->any = region_count > 0;
    track->lowest = region_count > 0 ? regions[0].at : 0;
    track->highest =
        region_count > 0 ? regions[region_count - 1].at + regions[region_count - 1].size : 0;
}

/* The first region that ends behind this place. */
static size_t first_behind(uintptr_t at)
{
    size_t low = 0, high = region_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (regions[middle].at + regions[middle].size <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The part of an access that is in region i; 0: none is, nor in any that follows. */
static size_t part_in(size_t i, uintptr_t at, size_t size, uintptr_t *from)
{
    if (i >= region_count || regions[i].at >= at + size)
        return 0;
    uintptr_t first = regions[i].at > at ? regions[i].at : at,
              end = regions[i].at + regions[i].size < at + size ? regions[i].at + regions[i].size
                                                                : at + size;
    *from = first;
    return end - first;
}

static bool touches(const void *at, size_t size)
{
    uintptr_t from;

    return region_count > 0 && part_in(first_behind((uintptr_t)at), (uintptr_t)at, size, &from) > 0;
}

static struct tracked *around(const void *at, size_t size)
{
    size_t i = first_behind((uintptr_t)at);

    return i < region_count && regions[i].at <= (uintptr_t)at &&
                   (uintptr_t)at + size <= regions[i].at + regions[i].size
               ? &regions[i]
               : NULL;
}

static void *allocate(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory");
    return memory;
}

static struct tracked *insert(uintptr_t at)
{
    size_t i = first_behind(at);

    if (region_count == region_room) {
        region_room = 2 * region_room + 16;
        regions = realloc(regions, region_room * sizeof *regions);
        if (!regions)
            rp_bug(__FILE__, __LINE__, "out of memory");
    }
    memmove(&regions[i + 1], &regions[i], (region_count++ - i) * sizeof *regions);
    return &regions[i];
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
static struct tracked *use(void *memory, size_t size, bool *is_new)
{
    struct tracked *t = around(memory, size);
    struct rp_problem why;

    if (check_ways(&why) != RP_OK) { /* a library may have come later */
        rp_error("%s", why.text);
        rp_data_end_job(REPRISE_EXIT_USAGE);
    }
    *is_new = !t;
    if (!t && touches(memory, size)) {
        rp_error(
            "a window has memory in common with another one before it, but is not all within that: "
            "of a program that was compiled by reprise-cc --track, that cannot be recorded");
        rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
    }
    if (!t) {
        t = insert((uintptr_t)memory);
        *t = (struct tracked){.at = (uintptr_t)memory, .size = size};
    }
    t->uses++;
    return t;
}

uint8_t *rp_track_add(void *memory, size_t size, bool is_known)
{
    enum { LINE = 64 };
    bool is_new;

    if (!track || size == 0)
        return NULL;
    struct tracked *t = use(memory, size, &is_new);
    if (!is_new)
        return t->shadow ? t->shadow + ((uintptr_t)memory - t->at) : NULL;
    if (!rp_partial_is_feeding) {
        uint8_t *room = t->owned = allocate(size + 2 * LINE);
        t->shadow = room + (t->at - (uintptr_t)room) % LINE;
        if (is_known)
            memcpy(t->shadow, memory, size);
    }
    uint8_t *shadow = t->shadow;
    name_regions();
    return shadow;
}

void rp_track_part(const struct rp_shadow *memory)
{
    bool is_new;

    if (!rp_track_parted || memory->size == 0)
        return;
    struct tracked *t = use(memory->own, memory->size, &is_new);
    if (is_new) {
        t->shadow = memory->shadow;
        t->public = memory->public;
        name_regions();
    }
}

void rp_track_remove(const void *memory, size_t size)
{
    struct tracked *t = track && size > 0 ? around(memory, size) : NULL;

    if (!t || --t->uses > 0)
        return;
    track->stored = 0;
    free(t->owned);
    memmove(t, t + 1, (size_t)(regions + --region_count - t) * sizeof *t);
    name_regions();
}

/* Loads */

/* Not a load of the program's: it is inside an MPI call, or the recording is over. */
static bool passes(const void *at, size_t size)
{
    if (!RP_PASSES)
        return false;
    if (!pthread_equal(thread, pthread_self()) && touches(at, size)) {
        rp_error("a thread other than the one that calls MPI uses window memory: a program that "
                 "was compiled by reprise-cc --track cannot be %s then",
                 rp_partial_is_feeding ? "replayed alone" : "recorded with its data");
        rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
    }
    return true;
}

static void record_part(const struct tracked *t, uintptr_t from, uint8_t *value, size_t size)
{
    uint8_t *shadow = t->shadow + (from - t->at);
    uint64_t number = ++*track->loads;

    if (memcmp(shadow, value, size) == 0)
        return;
    memcpy(shadow, value, size);
    rp_data_begin(writer, LOAD, names[LOAD]);
    rp_data_put_number(writer, number - told);
    rp_data_put_number(writer, from - t->at);
    rp_data_put_content(writer, value, size);
    rp_data_end(writer);
    told = number;
    rp_windows_mark_loads(number);
}

static void alone_differs(const char *what)
{
    rp_error("not the recorded run: at load %llu from window memory, %s",
             (unsigned long long)*track->loads, what);
    rp_data_end_job(REPRISE_EXIT_DIVERGED);
}

static void read_next(void);

static void tell(bool loads, const void *at, const void *value, size_t size)
{
    if (!rp_access_traced)
        return;
    rp_caller = track->caller;
    rp_caller_stack = track->caller_stack;
    rp_windows_direct(loads, at, value, size, *track->loads + !loads);
}

static void alone_part(const struct tracked *t, uintptr_t from, uint8_t *value, size_t size)
{
    if (++*track->loads != next.due) {
        memcpy(value, (void *)from, size); /* one instruction may load a place several times: what
                                              it was told of the first is there */
        return;
    }
    if (next.is_end && !rp_data_is_ended(reader))
        rp_partial_feed_stop("a load from window memory");
    if (next.is_end)
        alone_differs("more than were recorded");
    if (next.place != from - t->at || next.length != size)
        alone_differs("the program loads from another place");
    memcpy((void *)from, next.bytes, size);
    memcpy(value, next.bytes, size);
    tell(true, (void *)from, value, size);
    read_next();
}

static void load(const void *at, void *value, size_t size)
{
    uintptr_t from;

    if (passes(at, size))
        return;
    for (size_t i = first_behind((uintptr_t)at), part;
         (part = part_in(i, (uintptr_t)at, size, &from)) > 0; i++)
        (rp_partial_is_feeding
             ? alone_part
             : record_part)(&regions[i], from, (uint8_t *)value + (from - (uintptr_t)at), part);
}

static void set_shadows(const void *at, const uint8_t *value, size_t size)
{
    uintptr_t from;

    tell(false, at, value, size);
    for (size_t i = first_behind((uintptr_t)at), part;
         (part = part_in(i, (uintptr_t)at, size, &from)) > 0; i++)
        if (regions[i].shadow)
            memcpy(regions[i].shadow + (from - regions[i].at), value + (from - (uintptr_t)at),
                   part);
}

static void store(const void *at, const void *value, size_t size)
{
    if (!passes(at, size))
        set_shadows(at, value, size);
}

/* Of memory that others may change at any time, each byte is read once. */
static void *copy_of(const void *bytes, size_t size)
{
    static void *room;
    static size_t has;

    if (size > has) {
        free(room);
        room = allocate(size);
        has = size;
    }
    return memcpy(room, bytes, size);
}

static void copy(void *to, const void *from, size_t size)
{
    if ((!touches(from, size) && !touches(to, size)) || passes(from, size) || passes(to, size)) {
        memmove(to, from, size);
        return;
    }
    void *bytes = copy_of(from, size);
    load(from, bytes, size);
    memcpy(to, bytes, size);
    set_shadows(to, bytes, size);
}

static void fill(void *to, int byte, size_t size)
{
    uintptr_t from;

    memset(to, byte, size);
    if (!touches(to, size) || passes(to, size))
        return;
    tell(false, to, to, size);
    for (size_t i = first_behind((uintptr_t)to), part;
         (part = part_in(i, (uintptr_t)to, size, &from)) > 0; i++)
        if (regions[i].shadow)
            memset(regions[i].shadow + (from - regions[i].at), byte, part);
}

/* Atomic operations read memory as they write it: alone it must be right before. Recording, what
 * was read is told after it, and the operation is made on the shadow too. */

static void before(void *at, size_t size)
{
    if (rp_partial_is_feeding && touches(at, size))
        load(at, copy_of(at, size), size);
}

static void *after(void *at, const void *old, size_t size)
{
    static __thread uint64_t unused[2] __attribute__((aligned(16)));
    struct tracked *t = rp_partial_is_feeding ? NULL : around(at, size);

    if (rp_access_traced && touches(at, size) && !passes(at, size) && memcmp(at, old, size) != 0)
        tell(false, at, at, size);
    if (rp_partial_is_feeding || passes(at, size))
        return unused;
    load(at, copy_of(old, size), size);
    return t ? (void *)(t->shadow + ((uintptr_t)at - t->at)) : unused;
}

/* Programs that call before their accesses. Public memory is read and written by the largest words
 * that are aligned, as the program's own code would. */

static size_t width_at(uintptr_t at, size_t left)
{
    size_t width = 8;

    while (at % width != 0 || left < width)
        width /= 2;
    return width;
}

#define BY_WIDTH(statement)                                                                        \
    if (width == 8) {                                                                              \
        statement(uint64_t)                                                                        \
    } else if (width == 4) {                                                                       \
        statement(uint32_t)                                                                        \
    } else if (width == 2) {                                                                       \
        statement(uint16_t)                                                                        \
    } else {                                                                                       \
        statement(uint8_t)                                                                         \
    }

static void take_public(const uint8_t *public, uint8_t *to, size_t size)
{
    for (size_t at = 0, width; at < size; at += width) {
        width = width_at((uintptr_t) public + at, size - at);
#define TAKE(type)                                                                                 \
    type value = __atomic_load_n((const type *)(const void *)(public + at), __ATOMIC_ACQUIRE);     \
    memcpy(to + at, &value, sizeof value);
        BY_WIDTH(TAKE)
    }
}

/* Of a store that the program made, all words of which it changed any, or if it is known to be made
 * (`all`) every one; false: it changed none. */
static bool give_public(const struct tracked *t, uintptr_t from, size_t size, bool all)
{
    const uint8_t *own = (const uint8_t *)from;
    uint8_t *shadow = t->shadow + (from - t->at), *public = t->public + (from - t->at);

    if (!all && memcmp(own, shadow, size) == 0)
        return false;
    for (size_t at = 0, width; at < size; at += width) {
        width = width_at((uintptr_t) public + at, size - at);
        if (!all && memcmp(own + at, shadow + at, width) == 0)
            continue;
        memcpy(shadow + at, own + at, width);
#define GIVE(type)                                                                                 \
    type value;                                                                                    \
    memcpy(&value, own + at, sizeof value);                                                        \
    __atomic_store_n((type *)(void *)(public + at), value, __ATOMIC_RELEASE);
        BY_WIDTH(GIVE)
    }
    return true;
}

/* What code that is not tracked stored. */
static void give_untold(const struct tracked *t, uintptr_t from, size_t size)
{
    struct rp_shadow memory = {.own = (uint8_t *)t->at,
                               .public = t->public,
                               .shadow = t->shadow,
                               .size = t->size};

    rp_shadow_out(&memory, from - t->at, size);
}

/* Alone, if it is asked for: a store that is seen to be made is told of. */
static uintptr_t stored_from, stored_stack;

static void remember_store(void *at, size_t size)
{
    if (!rp_access_traced)
        return;
    track->stored_at = at;
    track->stored = size;
    track->looked = 0;
    stored_from = track->caller;
    stored_stack = track->caller_stack;
}

static void tell_store(void)
{
    uintptr_t caller = track->caller, stack = track->caller_stack;
    bool made = rp_windows_differ(track->stored_at, track->stored);

    track->caller = stored_from;
    track->caller_stack = stored_stack;
    if (made)
        tell(false, track->stored_at, track->stored_at, track->stored);
    if (made || track->looked++ > 0)
        track->stored = 0;
    track->caller = caller;
    track->caller_stack = stack;
}

static void settle(void)
{
    uintptr_t from, at = (uintptr_t)track->stored_at;
    size_t size = track->stored;
    bool made = false;

    if (rp_access_traced && size > 0)
        tell_store();
    if (RP_PASSES || rp_partial_is_feeding || size == 0)
        return;
    for (size_t i = first_behind(at), part; (part = part_in(i, at, size, &from)) > 0; i++)
        made |= give_public(&regions[i], from, part, false);
    if (made || track->looked++ > 0)
        track->stored = 0;
}

void rp_track_settle_now(void)
{
    if (track->stored > 0) {
        track->looked = 1;
        settle();
    }
}

static void bring_in(const struct tracked *t, uintptr_t from, size_t size)
{
    uint8_t small[64], *value = size <= sizeof small ? small : copy_of((const void *)from, size);

    give_untold(t, from, size);
    take_public(t->public + (from - t->at), value, size);
    record_part(t, from, value, size);
    memcpy((void *)from, value, size);
}

static void bring_in_all(const void *at, size_t size)
{
    uintptr_t from;
    uint8_t unused[64];

    for (size_t i = first_behind((uintptr_t)at), part;
         (part = part_in(i, (uintptr_t)at, size, &from)) > 0; i++)
        if (rp_partial_is_feeding)
            alone_part(&regions[i], from,
                       part <= sizeof unused ? unused : copy_of((const void *)from, part), part);
        else
            bring_in(&regions[i], from, part);
}

static void calls_read(const void *at, size_t size)
{
    if (!passes(at, size))
        bring_in_all(at, size);
}

static void calls_write(void *at, size_t size)
{
    if (passes(at, size) || !touches(at, size))
        return;
    bring_in_all(at, size);
    if (rp_partial_is_feeding) {
        remember_store(at, size);
        return;
    }
    track->stored_at = at;
    track->stored = size;
    track->looked = 0;
}

static void give_all(void *at, size_t size)
{
    uintptr_t from;

    for (size_t i = first_behind((uintptr_t)at), part;
         (part = part_in(i, (uintptr_t)at, size, &from)) > 0 && !rp_partial_is_feeding; i++)
        give_public(&regions[i], from, part, true);
}

static void calls_copy(void *to, const void *from, size_t size)
{
    bool near_from = touches(from, size), near_to = touches(to, size),
         tracked = (near_from || near_to) && !passes(near_from ? from : to, size);

    if (tracked) {
        rp_track_settle_now();
        bring_in_all(from, size);
    }
    memmove(to, from, size);
    if (tracked)
        tell(false, to, to, size);
    if (tracked)
        give_all(to, size);
}

static void calls_fill(void *to, int byte, size_t size)
{
    bool tracked = touches(to, size) && !passes(to, size);

    if (tracked)
        rp_track_settle_now();
    memset(to, byte, size);
    if (tracked)
        tell(false, to, to, size);
    if (tracked)
        give_all(to, size);
}

static void release(void)
{
    if (rp_partial_is_feeding)
        return;
    rp_track_settle_now();
    rp_windows_all_out();
}

static void *calls_begin(void *at, size_t size, int reads)
{
    struct tracked *t = around(at, size);

    if (!t || passes(at, size))
        return at;
    rp_track_settle_now();
    if (rp_partial_is_feeding) {
        if (reads)
            bring_in_all(at, size);
        remember_store(at, size);
        return at;
    }
    give_untold(t, (uintptr_t)at, size);
    return t->public + ((uintptr_t)at - t->at);
}

static void calls_made(void *at, const void *old, const void *now, size_t size)
{
    struct tracked *t = around(at, size);
    uint8_t value[16];

    if (old)
        record_part(t, (uintptr_t)at, memcpy(value, old, size), size);
    memcpy(t->shadow + ((uintptr_t)at - t->at), now, size);
    memcpy(at, now, size);
}

static void calls_refuse(const void *at, size_t size, const char *what)
{
    if (!touches(at, size))
        return;
    rp_error("%s: a lock in window memory cannot be shared by a program that was compiled by "
             "reprise-cc --track=calls; compile it by a compiler for which there is a plugin",
             what);
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}

/* What MPI gave */

const void *rp_track_taken(const void *bytes, size_t size)
{
    if (!touches(bytes, size))
        return bytes;
    if (rp_track_parted) {
        rp_windows_all_out(); /* before the program says by a store that it is there */
        return bytes;
    }
    void *copied = copy_of(bytes, size);
    set_shadows(bytes, copied, size);
    return copied;
}

bool rp_track_touches(const void *at, size_t size)
{
    return touches(at, size);
}

bool rp_track_to_shadow(const void *at, size_t size, ptrdiff_t *distance)
{
    struct tracked *t = around(at, size);

    if (t)
        *distance = (ptrdiff_t)((uintptr_t)t->shadow - t->at);
    return t != NULL;
}

/* The log, alone */

static void read_next(void)
{
    struct rp_problem why;
    const char *name;
    enum rp_status status = rp_data_next(reader, &name, &why);
    if (status == RP_OK && name && strcmp(name, names[CALLS]) == 0) {
        was_parted = true;
        status = rp_data_next(reader, &name, &why);
    }
    bool is_load = status == RP_OK && name && strcmp(name, names[LOAD]) == 0;
    uint64_t gap = status == RP_OK && name ? rp_data_get_number(reader) : 0;

    next.is_end = !is_load;
    if (is_load) {
        next.place = rp_data_get_number(reader);
        next.bytes = rp_data_get_content(reader, &next.length);
    }
    if (status == RP_OK)
        status = rp_data_failed(reader, &why);
    if (status == RP_OK && ((is_load && gap == 0) || (!name && rp_data_is_ended(reader))))
        status = rp_fail(&why, RP_DAMAGED, "it does not go on with a load, or its end");
    if (status != RP_OK) {
        rp_error("in the log of loads, after load %llu: %s", (unsigned long long)told, why.text);
        rp_data_end_job(rp_exit_status(status));
    }
    if (is_load)
        next.due = told = told + gap;
    else
        next.due = (name ? told + gap : rp_data_loads_made(reader)) + 1;
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

static void begin_calls(void)
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

static void begin(void)
{
    const int **off = dlsym(RTLD_DEFAULT, "reprise_track_off");

    track = find();
    thread = pthread_self();
    track->loads = writer ? rp_data_loads(writer) : &loads_made;
    track->load = load;
    track->store = store;
    track->copy = copy;
    track->fill = fill;
    track->before = before;
    track->after = after;
    rp_track_parted = track->ways & REPRISE_TRACK_BY_CALLS;
    if (rp_track_parted)
        begin_calls();
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
    rp_data_note_tracked(rp_data_writer);
    status = rp_data_create(directory, run, (uint32_t)rank, (uint32_t)ranks, NULL, &writer, why);
    if (status != RP_OK)
        return status;
    begin();
    if (rp_track_parted) {
        rp_data_begin(writer, CALLS, names[CALLS]);
        rp_data_end(writer);
    }
    return RP_OK;
}

enum rp_status rp_track_follow(const char *directory, uint64_t run, int rank, int ranks,
                               struct rp_problem *why)
{
    if (!rp_data_is_tracked(rp_data_reader))
        return RP_OK;
    if (!find())
        return rp_fail(why, RP_USAGE,
                       "rank %d was recorded with its loads from window memory, but this program "
                       "was not compiled by reprise-cc --track",
                       rank);
    enum rp_status status = check_version(why);
    if (status == RP_OK)
        status = rp_data_open_loads(directory, run, (uint32_t)rank, (uint32_t)ranks, &reader, why);
    if (status != RP_OK)
        return status;
    begin();
    read_next();
    if (was_parted != rp_track_parted)
        return rp_fail(why, RP_USAGE,
                       "rank %d was recorded with a program that was compiled by reprise-cc "
                       "--track=%s, but this one was not",
                       rank, was_parted ? "calls" : "plugin");
    return RP_OK;
}

void rp_track_check_end(void)
{
    if (track && *track->loads + 1 != next.due && rp_data_is_ended(reader))
        alone_differs("the program ends; more were recorded");
}

uint64_t rp_track_close(void)
{
    struct rp_problem why;
    uint64_t bytes = 0;

    if (!track)
        return 0;
    loads_made = *track->loads;
    track->loads = &loads_made;
    if (!writer)
        return 0;
    rp_data_begin(writer, END, names[END]);
    rp_data_put_number(writer, loads_made - told);
    rp_data_end(writer);
    if (rp_data_close(writer, &bytes, &why) != RP_OK)
        rp_error("%s", why.text);
    writer = NULL;
    return bytes;
}
