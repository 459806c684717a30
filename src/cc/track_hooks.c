/* SPDX-License-Identifier: MIT */
/* What tracked code calls where a window is near (window/tracking.h). Hidden: each module has its
 * own. */
#include <stdlib.h>
#include <string.h>

#include "cc/track_near.h"

#define HOOK __attribute__((visibility("hidden")))

static __attribute__((constructor)) void say_way(void)
{
    reprise_track.ways |= REPRISE_TRACK_BY_PLUGIN;
}

/* The usual case, for which `size` is known when this is compiled. */
static inline int is_seen(const void *at, const void *value, size_t size)
{
    const struct reprise_region *r = region_near(at);

    if (is_inside(r, at, size) && !*reprise_track_off &&
        memcmp(shadow_of(r, at), value, size) == 0) {
        ++*reprise_track.loads;
        return 1;
    }
    return is_outside(r, at, size);
}

static inline int is_stored(const void *at, const void *value, size_t size)
{
    const struct reprise_region *r = region_near(at);

    if (is_inside(r, at, size) && !*reprise_track_off) {
        memcpy((void *)shadow_of(r, at), value, size);
        return 1;
    }
    return is_outside(r, at, size);
}

#define HOOKS(bits)                                                                                \
    HOOK uint##bits##_t reprise_track_load_##bits(const void *at, uint##bits##_t value)            \
    {                                                                                              \
        if (!is_seen(at, &value, sizeof value)) {                                                  \
            uint##bits##_t result = value;                                                         \
                                                                                                   \
            HERE();                                                                                \
            reprise_track.load(at, &result, sizeof result);                                        \
            return result;                                                                         \
        }                                                                                          \
        return value;                                                                              \
    }                                                                                              \
                                                                                                   \
    HOOK void reprise_track_store_##bits(const void *at, uint##bits##_t value)                     \
    {                                                                                              \
        if (!is_stored(at, &value, sizeof value)) {                                                \
            HERE();                                                                                \
            reprise_track.store(at, &(uint##bits##_t){value}, sizeof value);                       \
        }                                                                                          \
    }

HOOKS(8)
HOOKS(16)
HOOKS(32)
HOOKS(64)

/* Vectors, mostly; what is wider may touch a region that is not near its first byte. */
HOOK void reprise_track_load_n(const void *at, void *value, size_t size)
{
    if (size > REPRISE_TRACK_WIDEST
            ? reprise_track.any
            : !(size == 16 ? is_seen(at, value, 16) : is_seen(at, value, size))) {
        HERE();
        reprise_track.load(at, value, size);
    }
}

HOOK void reprise_track_store_n(const void *at, const void *value, size_t size)
{
    if (size > REPRISE_TRACK_WIDEST
            ? reprise_track.any
            : !(size == 16 ? is_stored(at, value, 16) : is_stored(at, value, size))) {
        HERE();
        reprise_track.store(at, value, size);
    }
}

/* Vectors of which some elements are accessed: those whose bytes in the mask are not 0. */
HOOK void reprise_track_load_masked(const void *at, void *value, const void *mask, size_t size,
                                    size_t element)
{
    HERE();
    for (size_t i = 0; i < size; i += element)
        if (((const char *)mask)[i] && !is_seen((const char *)at + i, (char *)value + i, element))
            reprise_track.load((const char *)at + i, (char *)value + i, element);
}

HOOK void reprise_track_store_masked(const void *at, const void *value, const void *mask,
                                     size_t size, size_t element)
{
    HERE();
    for (size_t i = 0; i < size; i += element)
        if (((const char *)mask)[i] &&
            !is_stored((const char *)at + i, (const char *)value + i, element))
            reprise_track.store((const char *)at + i, (const char *)value + i, element);
}

static inline __attribute__((always_inline)) void *copy(void *to, const void *from, size_t size)
{
    if (!reprise_track.any)
        return memmove(to, from, size);
    HERE();
    reprise_track.copy(to, from, size);
    return to;
}

static inline __attribute__((always_inline)) void *fill(void *to, int byte, size_t size)
{
    if (!reprise_track.any)
        return memset(to, byte, size);
    HERE();
    reprise_track.fill(to, byte, size);
    return to;
}

HOOK void *reprise_track_copy(void *to, const void *from, size_t size)
{
    return copy(to, from, size);
}

HOOK void *reprise_track_fill(void *to, int byte, size_t size)
{
    return fill(to, byte, size);
}

/* With -D_FORTIFY_SOURCE: there is so much room. */

extern void __chk_fail(void) __attribute__((weak));

static void check_room(size_t size, size_t room)
{
    if (size <= room)
        return;
    if (__chk_fail)
        __chk_fail();
    abort();
}

HOOK void *reprise_track_copy_checked(void *to, const void *from, size_t size, size_t room)
{
    check_room(size, room);
    return copy(to, from, size);
}

HOOK void *reprise_track_fill_checked(void *to, int byte, size_t size, size_t room)
{
    check_room(size, room);
    return fill(to, byte, size);
}

HOOK void reprise_track_before(void *at, size_t size)
{
    HERE();
    reprise_track.before(at, size);
}

HOOK void *reprise_track_after(void *at, const void *old, size_t size)
{
    HERE();
    return reprise_track.after(at, old, size);
}

/* Atomic operations that read and write: what was there before. */

enum { ADD, SUB, AND, OR, XOR, NAND, EXCHANGE, COMPARE }; /* as cc/gcc_track_atomic.cc knows them */

#define CHANGE(bits)                                                                               \
    static uint##bits##_t change_##bits(uint##bits##_t *at, uint##bits##_t value,                  \
                                        uint##bits##_t expected, int how)                          \
    {                                                                                              \
        switch (how) {                                                                             \
        case ADD:                                                                                  \
            return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                \
        case SUB:                                                                                  \
            return __atomic_fetch_sub(at, value, __ATOMIC_SEQ_CST);                                \
        case AND:                                                                                  \
            return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST);                                \
        case OR:                                                                                   \
            return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST);                                 \
        case XOR:                                                                                  \
            return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST);                                \
        case NAND:                                                                                 \
            return __atomic_fetch_nand(at, value, __ATOMIC_SEQ_CST);                               \
        case EXCHANGE:                                                                             \
            return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                               \
        }                                                                                          \
        __atomic_compare_exchange_n(at, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
        return expected;                                                                           \
    }                                                                                              \
                                                                                                   \
    HOOK uint##bits##_t reprise_track_change_##bits(void *at, uint##bits##_t value,                \
                                                    uint##bits##_t expected, int how)              \
    {                                                                                              \
        HERE();                                                                                    \
        reprise_track.before(at, sizeof value);                                                    \
        uint##bits##_t old = change_##bits(at, value, expected, how);                              \
        change_##bits(reprise_track.after(at, &old, sizeof old), value, expected, how);            \
        return old;                                                                                \
    }

CHANGE(8)
CHANGE(16)
CHANGE(32)
CHANGE(64)
