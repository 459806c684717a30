/* SPDX-License-Identifier: MIT */
/*
 * What OpenMP assigns to the thread that asks first: the block of a `single`, the next iterations
 * of a dynamic loop, the next section. The runtime is asked in turn, and answers at once. So in a
 * replay the same threads get the same work. Not followed are `single` with copyprivate, where the
 * other threads wait inside the call, and tasks.
 */
#include <stdint.h>

#include "preload/caller.h"
#include "entry/entry.h"
#include "entry/threads.h"

#define IN_TURN(type, name, parameters, arguments)                                                 \
    type name parameters;                                                                          \
    RP_ENTRY type name parameters                                                                  \
    {                                                                                              \
        struct rp_call call = RP_CALL(#name);                                                      \
        if (!RP_THREADS_FOLLOWED())                                                                \
            return RP_REAL(type parameters, #name) arguments;                                      \
        rp_turn_begin(&call, false);                                                               \
        type answer = RP_REAL(type parameters, #name) arguments;                                   \
        rp_turn_end(false);                                                                        \
        return answer;                                                                             \
    }

/* GCC's runtime */

typedef unsigned long long ull;

#define START(name)                                                                                \
    IN_TURN(_Bool, name, (long start, long end, long step, long chunk, long *first, long *last),   \
            (start, end, step, chunk, first, last))
#define RUNTIME_START(name)                                                                        \
    IN_TURN(_Bool, name, (long start, long end, long step, long *first, long *last),               \
            (start, end, step, first, last))
#define NEXT(name) IN_TURN(_Bool, name, (long *first, long *last), (first, last))
#define ULL_START(name)                                                                            \
    IN_TURN(_Bool, name,                                                                           \
            (_Bool up, ull start, ull end, ull step, ull chunk, ull * first, ull * last),          \
            (up, start, end, step, chunk, first, last))
#define ULL_RUNTIME_START(name)                                                                    \
    IN_TURN(_Bool, name, (_Bool up, ull start, ull end, ull step, ull * first, ull * last),        \
            (up, start, end, step, first, last))
#define ULL_NEXT(name) IN_TURN(_Bool, name, (ull * first, ull * last), (first, last))

IN_TURN(_Bool, GOMP_single_start, (void), ())
IN_TURN(unsigned, GOMP_sections_start, (unsigned count), (count))
IN_TURN(unsigned, GOMP_sections_next, (void), ())

START(GOMP_loop_dynamic_start)
START(GOMP_loop_guided_start)
START(GOMP_loop_nonmonotonic_dynamic_start)
START(GOMP_loop_nonmonotonic_guided_start)
RUNTIME_START(GOMP_loop_runtime_start)
RUNTIME_START(GOMP_loop_nonmonotonic_runtime_start)
RUNTIME_START(GOMP_loop_maybe_nonmonotonic_runtime_start)
NEXT(GOMP_loop_dynamic_next)
NEXT(GOMP_loop_guided_next)
NEXT(GOMP_loop_runtime_next)
NEXT(GOMP_loop_nonmonotonic_dynamic_next)
NEXT(GOMP_loop_nonmonotonic_guided_next)
NEXT(GOMP_loop_nonmonotonic_runtime_next)
NEXT(GOMP_loop_maybe_nonmonotonic_runtime_next)

ULL_START(GOMP_loop_ull_dynamic_start)
ULL_START(GOMP_loop_ull_guided_start)
ULL_START(GOMP_loop_ull_nonmonotonic_dynamic_start)
ULL_START(GOMP_loop_ull_nonmonotonic_guided_start)
ULL_RUNTIME_START(GOMP_loop_ull_runtime_start)
ULL_RUNTIME_START(GOMP_loop_ull_nonmonotonic_runtime_start)
ULL_RUNTIME_START(GOMP_loop_ull_maybe_nonmonotonic_runtime_start)
ULL_NEXT(GOMP_loop_ull_dynamic_next)
ULL_NEXT(GOMP_loop_ull_guided_next)
ULL_NEXT(GOMP_loop_ull_runtime_next)
ULL_NEXT(GOMP_loop_ull_nonmonotonic_dynamic_next)
ULL_NEXT(GOMP_loop_ull_nonmonotonic_guided_next)
ULL_NEXT(GOMP_loop_ull_nonmonotonic_runtime_next)
ULL_NEXT(GOMP_loop_ull_maybe_nonmonotonic_runtime_next)

/*
 * LLVM's runtime. There, which iterations a thread gets also depends on how far the threads are
 * from which it takes them. So the results are values of the record, two for each. In a replay the
 * runtime is asked only when no work is left for this thread, until it says so as well: then the
 * loop has ended for the runtime, too.
 */

IN_TURN(int32_t, __kmpc_single, (void *place, int32_t thread), (place, thread))

struct share {
    int32_t is_share, is_last;
    int32_t step;
    uint64_t first, last;
};

static void note_share(const struct rp_call *call, struct share share)
{
    int32_t flags = share.is_share | share.is_last << 1;

    rp_threads_lock();
    rp_thread_state.depth++;
    if (rp_engine) {
        rp_engine->value(call, &flags, &share.first);
        rp_engine->value(call, &share.step, &share.last);
    }
    rp_thread_state.depth--;
    rp_threads_unlock();
}

/* Sets *share from the record. Returns false if the record has ended. */
static bool recorded_share(const struct rp_call *call, struct share *share)
{
    int32_t flags = 0;

    rp_threads_lock();
    rp_thread_state.depth++;
    bool known = rp_engine && rp_engine->value(call, &flags, &share->first);
    if (known)
        rp_engine->value_taken();
    known = known && rp_engine->value(call, &share->step, &share->last);
    if (known)
        rp_engine->value_taken();
    rp_thread_state.depth--;
    rp_threads_unlock();
    share->is_share = flags & 1;
    share->is_last = flags >> 1;
    return known;
}

#define DISPATCH(name, type, step_type)                                                            \
    typedef int function_##name(void *place, int32_t thread, int32_t *is_last, type *first,        \
                                type *last, step_type *step);                                      \
    function_##name name;                                                                          \
    RP_ENTRY int name(void *place, int32_t thread, int32_t *is_last, type *first, type *last,      \
                      step_type *step)                                                             \
    {                                                                                              \
        struct rp_call call = RP_CALL(#name);                                                      \
        function_##name *real = RP_REAL(function_##name, #name);                                   \
        struct share share = {0, 0, 1, 0, 0};                                                      \
        int32_t unused;                                                                            \
        if (!is_last)                                                                              \
            is_last = &unused;                                                                     \
        if (!RP_THREADS_FOLLOWED())                                                                \
            return real(place, thread, is_last, first, last, step);                                \
        if (!rp_threads_lead()) {                                                                  \
            share.is_share = real(place, thread, is_last, first, last, step) != 0;                 \
            if (share.is_share)                                                                    \
                share = (struct share){1, *is_last != 0, (int32_t)*step, (uint64_t)*first,         \
                                       (uint64_t)*last};                                           \
            note_share(&call, share);                                                              \
            return share.is_share;                                                                 \
        }                                                                                          \
        if (!recorded_share(&call, &share))                                                        \
            return real(place, thread, is_last, first, last, step);                                \
        if (!share.is_share) {                                                                     \
            while (real(place, thread, is_last, first, last, step))                                \
                ;                                                                                  \
            return 0;                                                                              \
        }                                                                                          \
        *is_last = share.is_last;                                                                  \
        *first = (type)share.first;                                                                \
        *last = (type)share.last;                                                                  \
        *step = (step_type)share.step;                                                             \
        return 1;                                                                                  \
    }

DISPATCH(__kmpc_dispatch_next_4, int32_t, int32_t)
DISPATCH(__kmpc_dispatch_next_4u, uint32_t, int32_t)
DISPATCH(__kmpc_dispatch_next_8, int64_t, int64_t)
DISPATCH(__kmpc_dispatch_next_8u, uint64_t, int64_t)
