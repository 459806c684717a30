/* SPDX-License-Identifier: MIT */
/*
 * Locks and critical sections of OpenMP, in a program whose threads are followed (locks.c describes
 * turns).
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/diagnostics.h"
#include "entry/entry.h"
#include "entry/threads.h"
#include "interpose/locks.h"
#include "preload/caller.h"

/* Locks of OpenMP, in any runtime, in C and in Fortran. The result of a test is the depth of a
 * nested lock, and 1 for a simple one. */

typedef void omp_set_function(void *);
typedef int omp_test_function(void *);

static void set_omp(const struct rp_call *call, void *lock, int (*try)(void *),
                    omp_set_function *real)
{
    if (rp_threads_lead()) {
        rp_lock_take_in_turn(call, (struct rp_lock){lock, try});
        return;
    }
    real(lock);
    rp_lock_note_taken(call);
}

static int test_omp(const struct rp_call *call, void *lock, int (*try)(void *),
                    omp_test_function *real)
{
    int32_t depth = 0;
    uint64_t unused = 0;
    unsigned tries = 0;

    if (!rp_threads_lead())
        return rp_lock_note_value(call, real(lock));
    rp_threads_lock();
    rp_thread_state.depth++;
    bool known = rp_engine && rp_engine->value(call, &depth, &unused);
    while (known && depth > 0 && try(lock) == EBUSY)
        rp_threads_give_way(&tries);
    if (!known)
        depth = real(lock);
    else if (rp_engine)
        rp_engine->value_taken();
    rp_thread_state.depth--;
    rp_threads_unlock();
    return depth;
}

/* `set` and `test` are the functions of one kind of lock. */
#define OMP_LOCKS(set, test)                                                                       \
    void set(void *);                                                                              \
    int test(void *);                                                                              \
    static int try_##set(void *lock)                                                               \
    {                                                                                              \
        return RP_REAL(omp_test_function, #test)(lock) ? 0 : EBUSY;                                \
    }                                                                                              \
    RP_ENTRY void set(void *lock)                                                                  \
    {                                                                                              \
        struct rp_call call = RP_CALL(#set);                                                       \
        if (RP_THREADS_FOLLOWED())                                                                 \
            set_omp(&call, lock, try_##set, RP_REAL(omp_set_function, #set));                      \
        else                                                                                       \
            RP_REAL(omp_set_function, #set)(lock);                                                 \
    }                                                                                              \
    RP_ENTRY int test(void *lock)                                                                  \
    {                                                                                              \
        struct rp_call call = RP_CALL(#test);                                                      \
        omp_test_function *real = RP_REAL(omp_test_function, #test);                               \
        return RP_THREADS_FOLLOWED() ? test_omp(&call, lock, try_##set, real) : real(lock);        \
    }

OMP_LOCKS(omp_set_lock, omp_test_lock)
OMP_LOCKS(omp_set_nest_lock, omp_test_nest_lock)
OMP_LOCKS(omp_set_lock_, omp_test_lock_)
OMP_LOCKS(omp_set_nest_lock_, omp_test_nest_lock_)

/*
 * Critical sections of OpenMP, in the runtimes of GCC and LLVM, which have no function that tries.
 * Threads that are followed first take a mutex of ours, in turn, and then the runtime's, which only
 * threads that are not followed can hold then.
 */

typedef void critical_function(void);
typedef void critical_name_function(void **);
typedef void kmpc_function(void *place, int32_t thread, void *name);
typedef void kmpc_hint_function(void *place, int32_t thread, void *name, uint32_t hint);

static pthread_mutex_t unnamed = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t atomic =
    PTHREAD_MUTEX_INITIALIZER; /* for what takes more than one instruction, such as reductions of
                                  several variables */

struct critical {
    const void *name; /* the address of the name's variable */
    pthread_mutex_t mutex;
    struct critical *next;
};

static pthread_mutex_t *named(const void *name)
{
    enum { LISTS = 64 };
    static struct critical *lists[LISTS];
    struct critical **list = &lists[((uintptr_t)name >> 3) % LISTS], *found;

    rp_threads_lock();
    for (found = *list; found && found->name != name; found = found->next)
        ;
    if (!found) {
        found = calloc(1, sizeof *found);
        if (!found)
            rp_bug(__FILE__, __LINE__, "out of memory for a critical section");
        *found = (struct critical){name, PTHREAD_MUTEX_INITIALIZER, *list};
        *list = found;
    }
    rp_threads_unlock();
    return &found->mutex;
}

/* Whether the critical sections that this thread is in, innermost in the lowest bit, are followed:
 * a thread may become followed, or stop to be, inside one. */
static __thread uint64_t critical_followed;

static bool enters_followed(uintptr_t place)
{
    bool followed = rp_threads_follow(place);

    critical_followed = critical_followed << 1 | followed;
    return followed;
}

static bool leaves_followed(void)
{
    bool followed = critical_followed & 1;

    critical_followed >>= 1;
    return followed;
}

static void give_back(pthread_mutex_t *mutex)
{
    RP_REAL(rp_mutex_function, "pthread_mutex_unlock")(mutex);
}

#define CRITICAL(type, start, end, mutex, parameters, arguments)                                   \
    void start parameters;                                                                         \
    void end parameters;                                                                           \
    RP_ENTRY void start parameters                                                                 \
    {                                                                                              \
        struct rp_call call = RP_CALL(#start);                                                     \
        if (enters_followed(RP_CALLER))                                                            \
            rp_lock_take_mutex(&call, mutex);                                                      \
        RP_REAL(type, #start) arguments;                                                           \
    }                                                                                              \
    RP_ENTRY void end parameters                                                                   \
    {                                                                                              \
        RP_REAL(type, #end) arguments;                                                             \
        if (leaves_followed())                                                                     \
            give_back(mutex);                                                                      \
    }

CRITICAL(critical_function, GOMP_critical_start, GOMP_critical_end, &unnamed, (void), ())
CRITICAL(critical_function, GOMP_atomic_start, GOMP_atomic_end, &atomic, (void), ())
CRITICAL(critical_name_function, GOMP_critical_name_start, GOMP_critical_name_end, named(name),
         (void **name), (name))
CRITICAL(kmpc_function, __kmpc_critical, __kmpc_end_critical, named(name),
         (void *place, int32_t thread, void *name), (place, thread, name))

void __kmpc_critical_with_hint(void *, int32_t, void *, uint32_t);

RP_ENTRY void __kmpc_critical_with_hint(void *place, int32_t thread, void *name, uint32_t hint)
{
    struct rp_call call = RP_CALL("__kmpc_critical_with_hint");

    if (enters_followed(RP_CALLER))
        rp_lock_take_mutex(&call, named(name));
    RP_REAL(kmpc_hint_function, "__kmpc_critical_with_hint")(place, thread, name, hint);
}
