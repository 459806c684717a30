/* SPDX-License-Identifier: MIT */
/*
 * The threads of the program: their creation, which names them, and their mutexes, whose order decides the order of the MPI calls made under
 * them, so that a replay must keep it too. A condition variable gives its mutex back when it wakes: in a replay, that is all it does.
 */
#include "mpi/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/message.h"
#include "mpi/caller.h"
#include "mpi/entry.h"
#include "mpi/life.h"

int rp_threads_on;
static bool created; /* the program has created a thread */

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* a program may exit inside a call */

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int mutex_function(pthread_mutex_t *);
typedef int timed_function(pthread_mutex_t *, const struct timespec *);
typedef int clocked_function(pthread_mutex_t *, clockid_t, const struct timespec *);
typedef int wait_function(pthread_cond_t *, pthread_mutex_t *);
typedef int timedwait_function(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
typedef int clockwait_function(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
typedef void critical_function(void);
typedef void critical_name_function(void **);

/* The lock */

void rp_threads_lock(void)
{
    RP_REAL(mutex_function, "pthread_mutex_lock")(&mutex);
    rp_self.always = rp_state.always;
}

void rp_threads_unlock(void)
{
    RP_REAL(mutex_function, "pthread_mutex_unlock")(&mutex);
}

void rp_threads_give_way(unsigned *tries)
{
    enum { YIELDS = 200, SLEEP_US = 50 };
    int before;

    rp_threads_unlock();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); /* a sleep of ours is no place to be cancelled at */
    if (++*tries < YIELDS)
        sched_yield();
    else
        usleep(SLEEP_US);
    pthread_setcancelstate(before, NULL);
    rp_threads_lock();
}

/* Who is who */

static uint64_t own_identity(void)
{
    if (rp_self.identity == 0 && syscall(SYS_gettid) == getpid())
        rp_self.identity = 1;
    return rp_self.identity;
}

static uint64_t identity_of_child(uint64_t parent)
{
    uint64_t mixed = parent + ++rp_self.children * UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31 ? mixed ^ mixed >> 31 : 1;
}

static void follow_threads(void)
{
    int level = MPI_THREAD_SINGLE;

    rp_pmpi.Query_thread(&level);
    if (rp_threads_on || level < MPI_THREAD_SERIALIZED)
        return;
    rp_engine->threads_begin();
    rp_always_set(RP_ALWAYS_THREADS);
    rp_threads_on = 1;
    rp_sends_seen = 1;
}

void rp_threads_start(void)
{
    if (rp_engine && created)
        follow_threads();
}

bool rp_threads_adopt(void)
{
    if (!rp_threads_on || own_identity() == 0)
        return false;
    rp_self.depth &= ~(uint32_t)RP_STRANGER;
    rp_self.always = rp_state.always;
    return true;
}

struct birth {
    void *(*start)(void *);
    void *data;
    uint64_t identity;
};

static void *be_born(void *data)
{
    struct birth birth = *(struct birth *)data;

    free(data);
    rp_self.identity = birth.identity;
    return birth.start(birth.data);
}

RP_ENTRY int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data)
{
    struct birth *birth = rp_is_inside() || own_identity() == 0 || !rp_caller_is_program(RP_CALLER) ? NULL : malloc(sizeof *birth);

    if (!birth)
        return RP_REAL(create_function, "pthread_create")(thread, attributes, start, data);
    *birth = (struct birth){start, data, identity_of_child(rp_self.identity)};
    created = true;
    rp_threads_start();
    int rc = RP_REAL(create_function, "pthread_create")(thread, attributes, be_born, birth);
    if (rc != 0)
        free(birth);
    return rc;
}

/* Mutexes */

static bool leads(void)
{
    const struct rp_engine *engine = rp_engine;

    return engine && engine->leads && engine->leads();
}

/* Whether a mutex that is taken from this place is to be followed. */
static bool is_followed(uintptr_t place)
{
    return rp_threads_on && rp_engine && !rp_is_inside() && rp_caller_is_program(place) && own_identity() != 0 && (rp_self.depth == 0 || rp_threads_adopt());
}

/* Recording: a mutex was taken. */
static void note_taken(const struct rp_call *call)
{
    rp_turn_begin(call, false);
    rp_turn_end(false);
}

/* Replay: takes it when it is this thread's turn. Its holder before has had all its turns, and is about to give it back. */
static int take_in_turn(const struct rp_call *call, pthread_mutex_t *m)
{
    unsigned tries = 0;
    int rc;

    rp_turn_begin(call, false);
    while ((rc = RP_REAL(mutex_function, "pthread_mutex_trylock")(m)) == EBUSY)
        rp_threads_give_way(&tries);
    rp_turn_end(false);
    return rc;
}

/* A mutex that checks for errors, and that this thread has already: no turn. (Its kind is in the two lowest bits, in every version of the C library.) */
static bool is_own_checked(const pthread_mutex_t *m)
{
    return (m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP && m->__data.__owner == (int)syscall(SYS_gettid);
}

static int take(const struct rp_call *call, pthread_mutex_t *m)
{
    if (leads() && !is_own_checked(m))
        return take_in_turn(call, m);
    int rc = RP_REAL(mutex_function, "pthread_mutex_lock")(m);
    if (rc == 0 || rc == EOWNERDEAD) /* of a robust one: it is ours all the same */
        note_taken(call);
    return rc;
}

RP_ENTRY int pthread_mutex_lock(pthread_mutex_t *m)
{
    if (__builtin_expect(!rp_threads_on, 1) || !is_followed(RP_CALLER))
        return RP_REAL(mutex_function, "pthread_mutex_lock")(m);
    struct rp_call call = RP_CALL("pthread_mutex_lock");
    return take(&call, m);
}

/* What a function that may fail answered is a value of the record. In a replay, the mutex is taken if it was. */
static int value_in_turn(const struct rp_call *call, pthread_mutex_t *m)
{
    int32_t rc = 0;
    uint64_t unused = 0;
    unsigned tries = 0;

    rp_threads_lock();
    rp_self.depth++;
    bool known = rp_engine && rp_engine->value(call, &rc, &unused);
    while (known && rc == 0 && RP_REAL(mutex_function, "pthread_mutex_trylock")(m) == EBUSY)
        rp_threads_give_way(&tries);
    if (!known)
        rc = RP_REAL(mutex_function, "pthread_mutex_trylock")(m);
    else if (rp_engine)
        rp_engine->value_taken();
    rp_self.depth--;
    rp_threads_unlock();
    return rc;
}

static int note_value(const struct rp_call *call, int32_t rc)
{
    uint64_t unused = 0;

    rp_threads_lock();
    rp_self.depth++;
    if (rp_engine)
        rp_engine->value(call, &rc, &unused);
    rp_self.depth--;
    rp_threads_unlock();
    return rc;
}

RP_ENTRY int pthread_mutex_trylock(pthread_mutex_t *m)
{
    if (__builtin_expect(!rp_threads_on, 1) || !is_followed(RP_CALLER))
        return RP_REAL(mutex_function, "pthread_mutex_trylock")(m);
    struct rp_call call = RP_CALL("pthread_mutex_trylock");
    if (leads())
        return value_in_turn(&call, m);
    return note_value(&call, RP_REAL(mutex_function, "pthread_mutex_trylock")(m));
}

RP_ENTRY int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
    if (__builtin_expect(!rp_threads_on, 1) || !is_followed(RP_CALLER))
        return RP_REAL(timed_function, "pthread_mutex_timedlock")(m, until);
    struct rp_call call = RP_CALL("pthread_mutex_timedlock");
    if (leads())
        return value_in_turn(&call, m);
    return note_value(&call, RP_REAL(timed_function, "pthread_mutex_timedlock")(m, until));
}

RP_ENTRY int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
    if (__builtin_expect(!rp_threads_on, 1) || !is_followed(RP_CALLER))
        return RP_REAL(clocked_function, "pthread_mutex_clocklock")(m, clock, until);
    struct rp_call call = RP_CALL("pthread_mutex_clocklock");
    if (leads())
        return value_in_turn(&call, m);
    return note_value(&call, RP_REAL(clocked_function, "pthread_mutex_clocklock")(m, clock, until));
}

/* Condition variables */

RP_ENTRY int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *m)
{
    if (__builtin_expect(!rp_threads_on, 1) || !is_followed(RP_CALLER))
        return RP_REAL(wait_function, "pthread_cond_wait")(condition, m);
    struct rp_call call = RP_CALL("pthread_cond_wait");
    if (leads()) {
        RP_REAL(mutex_function, "pthread_mutex_unlock")(m);
        return take_in_turn(&call, m);
    }
    int rc = RP_REAL(wait_function, "pthread_cond_wait")(condition, m);
    note_taken(&call);
    return rc;
}

/* The mutex is taken again, whatever the answer. */
static int timed_in_turn(const struct rp_call *call, pthread_mutex_t *m)
{
    int32_t rc = 0;
    uint64_t unused = 0;
    unsigned tries = 0;

    RP_REAL(mutex_function, "pthread_mutex_unlock")(m);
    rp_threads_lock();
    rp_self.depth++;
    bool known = rp_engine && rp_engine->value(call, &rc, &unused);
    while (RP_REAL(mutex_function, "pthread_mutex_trylock")(m) == EBUSY)
        rp_threads_give_way(&tries);
    if (known && rp_engine)
        rp_engine->value_taken();
    rp_self.depth--;
    rp_threads_unlock();
    return rc;
}

RP_ENTRY int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *m, const struct timespec *until)
{
    if (__builtin_expect(!rp_threads_on, 1) || !is_followed(RP_CALLER))
        return RP_REAL(timedwait_function, "pthread_cond_timedwait")(condition, m, until);
    struct rp_call call = RP_CALL("pthread_cond_timedwait");
    if (leads())
        return timed_in_turn(&call, m);
    return note_value(&call, RP_REAL(timedwait_function, "pthread_cond_timedwait")(condition, m, until));
}

RP_ENTRY int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
    if (__builtin_expect(!rp_threads_on, 1) || !is_followed(RP_CALLER))
        return RP_REAL(clockwait_function, "pthread_cond_clockwait")(condition, m, clock, until);
    struct rp_call call = RP_CALL("pthread_cond_clockwait");
    if (leads())
        return timed_in_turn(&call, m);
    return note_value(&call, RP_REAL(clockwait_function, "pthread_cond_clockwait")(condition, m, clock, until));
}

/* Critical sections of OpenMP, by GCC's runtime, which has no function that tries: while threads are followed, mutexes of ours stand for them. */

static pthread_mutex_t unnamed = PTHREAD_MUTEX_INITIALIZER;

struct critical {
    void **name; /* the address of the name's variable */
    pthread_mutex_t mutex;
    struct critical *next;
};

static pthread_mutex_t *named(void **name)
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

/* Whether the sections that this thread is in, innermost in the lowest bit, are followed: that may begin and end inside one. */
static __thread uint64_t critical_followed;

static bool enters_followed(uintptr_t place)
{
    bool followed = is_followed(place);

    critical_followed = critical_followed << 1 | followed;
    return followed;
}

static bool leaves_followed(void)
{
    bool followed = critical_followed & 1;

    critical_followed >>= 1;
    return followed;
}

RP_ENTRY void GOMP_critical_start(void)
{
    struct rp_call call = RP_CALL("GOMP_critical_start");

    if (enters_followed(RP_CALLER))
        take(&call, &unnamed);
    else
        RP_REAL(critical_function, "GOMP_critical_start")();
}

RP_ENTRY void GOMP_critical_end(void)
{
    if (leaves_followed())
        RP_REAL(mutex_function, "pthread_mutex_unlock")(&unnamed);
    else
        RP_REAL(critical_function, "GOMP_critical_end")();
}

RP_ENTRY void GOMP_critical_name_start(void **name)
{
    struct rp_call call = RP_CALL("GOMP_critical_name_start");

    if (enters_followed(RP_CALLER))
        take(&call, named(name));
    else
        RP_REAL(critical_name_function, "GOMP_critical_name_start")(name);
}

RP_ENTRY void GOMP_critical_name_end(void **name)
{
    if (leaves_followed())
        RP_REAL(mutex_function, "pthread_mutex_unlock")(named(name));
    else
        RP_REAL(critical_name_function, "GOMP_critical_name_end")(name);
}
