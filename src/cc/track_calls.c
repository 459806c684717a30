/* SPDX-License-Identifier: MIT */
/*
 * Tracking without a plugin (window/tracking.h). Compilers have an instrumentation of their own,
 * for finding data races (-fsanitize=thread): it calls these functions before each load and store,
 * and in the place of atomic operations. The compiler's library of that name is not linked. Hidden:
 * each module has its own.
 *
 * Since the value of a load is not known here, none may change between the call and the load. So
 * the program works on memory that nobody else stores into; before a load, what others stored there
 * is brought in.
 *
 * Of a store, the value is there when the next of these functions is called; so the place is
 * remembered until then. GCC calls first for what a structure is copied to, then for what it is
 * copied from, and copies then: so a store that is not seen is looked for once more. What others
 * stored is brought in before a store, too. So if nothing differs afterwards, what the program
 * stored was there already; and of a word of which only some bits are stored, the others are no
 * older than they would be.
 */
#include <stdbool.h>
#include <string.h>

#include "cc/track_near.h"

#define HOOK __attribute__((visibility("hidden")))

static __attribute__((constructor)) void say_way(void)
{
    reprise_track.ways |= REPRISE_TRACK_BY_CALLS;
}

static inline void settle(void)
{
    if (__builtin_expect(reprise_track.stored != 0, 0) && !*reprise_track_off)
        reprise_track.settle();
}

/* Whether all three are the same; `size` is known when this is compiled. Public memory is read at
 * once. */
static inline bool is_same(const struct reprise_region *r, const void *at, size_t size)
{
#define CASE(type)                                                                                 \
    case sizeof(type): {                                                                           \
        type public = __atomic_load_n((const type *)public_of(r, at), __ATOMIC_ACQUIRE),           \
             shadow = *(const type *)shadow_of(r, at);                                             \
        return public == shadow && *(const type *)at == shadow;                                    \
    }
    typedef uint16_t __attribute__((may_alias)) u16;
    typedef uint32_t __attribute__((may_alias)) u32;
    typedef uint64_t __attribute__((may_alias)) u64;

    if ((uintptr_t)at % size != 0)
        return false;
    switch (size) {
        CASE(uint8_t)
        CASE(u16)
        CASE(u32)
        CASE(u64)
    default:
        return false;
    }
#undef CASE
}

/* True: it was counted, or is none of a window. */
static inline bool is_seen(const struct reprise_region *r, const void *at, size_t size)
{
    if (is_inside(r, at, size) && !*reprise_track_off && is_same(r, at, size)) {
        ++*reprise_track.loads;
        return true;
    }
    return is_outside(r, at, size);
}

static inline void reads(const void *at, size_t size)
{
    settle();
    if (!is_seen(region_near(at), at, size)) {
        HERE();
        reprise_track.read(at, size);
    }
}

static inline void writes(void *at, size_t size)
{
    const struct reprise_region *r = region_near(at);

    settle();
    if (is_outside(r, at, size))
        return;
    if (!is_seen(r, at, size)) {
        HERE();
        reprise_track.write(at, size);
        return;
    }
    reprise_track.stored_at = at;
    reprise_track.stored = size;
    reprise_track.looked = 0;
}

/* Nothing is near, nor remembered: most accesses end here, so that the rest is apart. */
static inline bool is_idle(const void *at)
{
    return __builtin_expect((size_t)reprise_track.slot[(uintptr_t)at >> REPRISE_TRACK_PAGE &
                                                       (REPRISE_TRACK_SLOTS - 1)] +
                                    reprise_track.stored ==
                                0,
                            1);
}

#define SIZE(bytes)                                                                                \
    static __attribute__((noinline)) void read_near##bytes(void *at)                               \
    {                                                                                              \
        reads(at, bytes);                                                                          \
    }                                                                                              \
    static __attribute__((noinline)) void write_near##bytes(void *at)                              \
    {                                                                                              \
        writes(at, bytes);                                                                         \
    }                                                                                              \
    HOOK void __tsan_read##bytes(void *at)                                                         \
    {                                                                                              \
        if (!is_idle(at))                                                                          \
            read_near##bytes(at);                                                                  \
    }                                                                                              \
    HOOK void __tsan_write##bytes(void *at)                                                        \
    {                                                                                              \
        if (!is_idle(at))                                                                          \
            write_near##bytes(at);                                                                 \
    }                                                                                              \
    HOOK void __tsan_read_write##bytes(void *at)                                                   \
    {                                                                                              \
        if (!is_idle(at))                                                                          \
            write_near##bytes(at);                                                                 \
    }                                                                                              \
    HOOK void __tsan_unaligned_read##bytes(void *at)                                               \
    {                                                                                              \
        if (!is_idle(at))                                                                          \
            read_near##bytes(at);                                                                  \
    }                                                                                              \
    HOOK void __tsan_unaligned_write##bytes(void *at)                                              \
    {                                                                                              \
        if (!is_idle(at))                                                                          \
            write_near##bytes(at);                                                                 \
    }                                                                                              \
    HOOK void __tsan_unaligned_read_write##bytes(void *at)                                         \
    {                                                                                              \
        if (!is_idle(at))                                                                          \
            write_near##bytes(at);                                                                 \
    }                                                                                              \
    HOOK void __tsan_volatile_read##bytes(void *at)                                                \
    {                                                                                              \
        if (!is_idle(at))                                                                          \
            read_near##bytes(at);                                                                  \
    }                                                                                              \
    HOOK void __tsan_volatile_write##bytes(void *at)                                               \
    {                                                                                              \
        if (!is_idle(at))                                                                          \
            write_near##bytes(at);                                                                 \
    }                                                                                              \
    HOOK void __tsan_unaligned_volatile_read##bytes(void *at)                                      \
    {                                                                                              \
        if (!is_idle(at))                                                                          \
            read_near##bytes(at);                                                                  \
    }                                                                                              \
    HOOK void __tsan_unaligned_volatile_write##bytes(void *at)                                     \
    {                                                                                              \
        if (!is_idle(at))                                                                          \
            write_near##bytes(at);                                                                 \
    }
SIZE(1)
SIZE(2)
SIZE(4)
SIZE(8)
SIZE(16)

/* What is wide may touch a region that is not near its first byte. */
HOOK void __tsan_read_range(void *at, size_t size)
{
    settle();
    if (size > 0 &&
        (size > REPRISE_TRACK_WIDEST ? reprise_track.any : !is_outside(region_near(at), at, size)))
        reprise_track.read(at, size);
}

HOOK void __tsan_write_range(void *at, size_t size)
{
    settle();
    if (size > 0 &&
        (size > REPRISE_TRACK_WIDEST ? reprise_track.any : !is_outside(region_near(at), at, size)))
        reprise_track.write(at, size);
}

HOOK void __tsan_vptr_read(void *at)
{
    reads(at, sizeof(void *));
}

HOOK void __tsan_vptr_update(void *at, void *value)
{
    (void)value;
    writes(at, sizeof(void *));
}

HOOK void __tsan_init(void)
{
}
HOOK void __tsan_func_entry(void *from)
{
    (void)from;
    settle();
}
HOOK void __tsan_func_exit(void)
{
    settle();
}
HOOK void __tsan_acquire(void *at)
{
    (void)at;
}
HOOK void __tsan_release(void *at)
{
    (void)at;
}
HOOK void __tsan_ignore_thread_begin(void)
{
}
HOOK void __tsan_ignore_thread_end(void)
{
}

/* Atomic operations. All are made as strong as they can be. */

static inline void *begin(volatile void *at, size_t size, int reads)
{
    settle();
    return is_outside(region_near((const void *)at), (const void *)at, size)
               ? (void *)at
               : reprise_track.begin((void *)at, size, reads);
}

static inline void made(volatile void *at, const void *place, const void *old, const void *now,
                        size_t size)
{
    if (place != at)
        reprise_track.made((void *)at, old, now, size);
}

static inline void publish(int order)
{
    if (reprise_track.any && !*reprise_track_off &&
        (order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST))
        reprise_track.release();
}

#define READ_AND_WRITE(bits, type, name, expression)                                               \
    HOOK type __tsan_atomic##bits##_##name(volatile type *at, type value, int order)               \
    {                                                                                              \
        type *place = begin(at, sizeof value, 1), old = LOAD(type, place), now;                    \
        (void)order;                                                                               \
        do                                                                                         \
            now = (type)(expression);                                                              \
        while (!SWAP(type, place, &old, now));                                                     \
        made(at, place, &old, &now, sizeof value);                                                 \
        return old;                                                                                \
    }

#define ATOMICS(bits, type)                                                                        \
    HOOK type __tsan_atomic##bits##_load(const volatile type *at, int order)                       \
    {                                                                                              \
        volatile type *own = (volatile type *)at;                                                  \
        type *place = begin(own, sizeof *own, 1), old = LOAD(type, place);                         \
        (void)order;                                                                               \
        made(own, place, &old, &old, sizeof old);                                                  \
        return old;                                                                                \
    }                                                                                              \
    HOOK void __tsan_atomic##bits##_store(volatile type *at, type value, int order)                \
    {                                                                                              \
        type *place = begin(at, sizeof value, 0), old = LOAD(type, place);                         \
        publish(order);                                                                            \
        while (!SWAP(type, place, &old, value))                                                    \
            ;                                                                                      \
        made(at, place, NULL, &value, sizeof value);                                               \
    }                                                                                              \
    HOOK type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected,         \
                                                         type value, int order, int failing)       \
    {                                                                                              \
        type *place = begin(at, sizeof value, 1), old = expected;                                  \
        bool swapped = SWAP(type, place, &old, value);                                             \
        (void)order, (void)failing;                                                                \
        made(at, place, &old, swapped ? &value : &old, sizeof value);                              \
        return old;                                                                                \
    }                                                                                              \
    HOOK int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected,      \
                                                           type value, int order, int failing)     \
    {                                                                                              \
        type wanted = *expected,                                                                   \
             old = __tsan_atomic##bits##_compare_exchange_val(at, wanted, value, order, failing);  \
        if (old != wanted)                                                                         \
            *expected = old;                                                                       \
        return old == wanted;                                                                      \
    }                                                                                              \
    HOOK int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected,        \
                                                         type value, int order, int failing)       \
    {                                                                                              \
        return __tsan_atomic##bits##_compare_exchange_strong(at, expected, value, order, failing); \
    }                                                                                              \
    READ_AND_WRITE(bits, type, exchange, value)                                                    \
    READ_AND_WRITE(bits, type, fetch_add, old + value)                                             \
    READ_AND_WRITE(bits, type, fetch_sub, old - value)                                             \
    READ_AND_WRITE(bits, type, fetch_and, old &value)                                              \
    READ_AND_WRITE(bits, type, fetch_or, old | value)                                              \
    READ_AND_WRITE(bits, type, fetch_xor, old ^ value)                                             \
    READ_AND_WRITE(bits, type, fetch_nand, ~(old & value))

#define LOAD(type, at) __atomic_load_n(at, __ATOMIC_SEQ_CST)
#define SWAP(type, at, old, now)                                                                   \
    __atomic_compare_exchange_n(at, old, now, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
/* By the processor's instruction, so that no library is needed. */
__extension__ typedef unsigned __int128 wide;

static inline bool swap_wide(wide *at, wide *old, wide now)
{
    wide wanted = *old;

    *old = __sync_val_compare_and_swap(at, wanted, now);
    return *old == wanted;
}

#undef LOAD
#undef SWAP
#define LOAD(type, at) __sync_val_compare_and_swap(at, 0, 0)
#define SWAP(type, at, old, now) swap_wide(at, old, now)
ATOMICS(128, wide)
#endif

HOOK void __tsan_atomic_thread_fence(int order)
{
    settle();
    publish(order);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

HOOK void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Copies and fills: some compilers call functions of these names, others the C library's, which
 * the linker takes from here (--wrap). */

void *__real_memcpy(void *to, const void *from, size_t size);
void *__real_memmove(void *to, const void *from, size_t size);
void *__real_memset(void *to, int byte, size_t size);
void __chk_fail(void) __attribute__((noreturn, weak));

HOOK void *__wrap_memmove(void *to, const void *from, size_t size)
{
    if (!reprise_track.any)
        return __real_memmove(to, from, size);
    reprise_track.copy(to, from, size);
    return to;
}

HOOK void *__wrap_memcpy(void *to, const void *from, size_t size)
{
    return reprise_track.any ? __wrap_memmove(to, from, size) : __real_memcpy(to, from, size);
}

HOOK void *__wrap_memset(void *to, int byte, size_t size)
{
    if (!reprise_track.any)
        return __real_memset(to, byte, size);
    reprise_track.fill(to, byte, size);
    return to;
}

static void check_room(size_t size, size_t room)
{
    if (size <= room)
        return;
    if (__chk_fail)
        __chk_fail();
    __builtin_trap();
}

HOOK void *__wrap___memcpy_chk(void *to, const void *from, size_t size, size_t room)
{
    check_room(size, room);
    return __wrap_memcpy(to, from, size);
}

HOOK void *__wrap___memmove_chk(void *to, const void *from, size_t size, size_t room)
{
    check_room(size, room);
    return __wrap_memmove(to, from, size);
}

HOOK void *__wrap___memset_chk(void *to, int byte, size_t size, size_t room)
{
    check_room(size, room);
    return __wrap_memset(to, byte, size);
}

HOOK void *__tsan_memcpy(void *to, const void *from, size_t size)
{
    return __wrap_memcpy(to, from, size);
}
HOOK void *__tsan_memmove(void *to, const void *from, size_t size)
{
    return __wrap_memmove(to, from, size);
}
HOOK void *__tsan_memset(void *to, int byte, size_t size)
{
    return __wrap_memset(to, byte, size);
}

/* Who waits lets others go on: they are to see what was stored before. */
#define WAITS(result, name, parameters, arguments)                                                 \
    result __real_##name parameters;                                                               \
    HOOK result __wrap_##name parameters                                                           \
    {                                                                                              \
        settle();                                                                                  \
        return __real_##name arguments;                                                            \
    }
WAITS(int, sched_yield, (void), ())
WAITS(unsigned, sleep, (unsigned seconds), (seconds))
WAITS(int, usleep, (unsigned time), (time))
WAITS(int, nanosleep, (const void *time, void *left), (time, left))
WAITS(int, clock_nanosleep, (int clock, int flags, const void *time, void *left),
      (clock, flags, time, left))
WAITS(int, poll, (void *files, unsigned long count, int time), (files, count, time))
WAITS(int, select, (int files, void *in, void *out, void *other, void *time),
      (files, in, out, other, time))

/* Locks of the C library that several processes share would each be another in each of them. */
#define NO_LOCK(name, parameters, arguments)                                                       \
    int __real_##name parameters __attribute__((weak));                                            \
    HOOK int __wrap_##name parameters                                                              \
    {                                                                                              \
        if (reprise_track.any)                                                                     \
            reprise_track.refuse(lock, 1, #name);                                                  \
        return __real_##name arguments;                                                            \
    }
NO_LOCK(pthread_mutex_init, (void *lock, const void *how), (lock, how))
NO_LOCK(pthread_rwlock_init, (void *lock, const void *how), (lock, how))
NO_LOCK(pthread_cond_init, (void *lock, const void *how), (lock, how))
NO_LOCK(pthread_barrier_init, (void *lock, const void *how, unsigned count), (lock, how, count))
NO_LOCK(pthread_spin_init, (void *lock, int shared), (lock, shared))
NO_LOCK(sem_init, (void *lock, int shared, unsigned value), (lock, shared, value))
