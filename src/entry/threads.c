/* SPDX-License-Identifier: MIT */
/* The threads of the program: the lock that they make their MPI calls under, and their creation,
 * which names them. */
#include "entry/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "base/visibility.h"
#include "job/settings.h"
#include "preload/caller.h"

int rp_threads_on;
static bool created; /* the program has created a thread */

static pthread_mutex_t mutex =
    PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* a program may exit inside a call */

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int create_c11_function(thrd_t *, thrd_start_t, void *);
typedef int mutex_function(pthread_mutex_t *);

/* The lock */

static __thread unsigned held; /* how often this thread has it */

void rp_threads_lock(void)
{
    RP_REAL(mutex_function, "pthread_mutex_lock")(&mutex);
    held++;
    rp_thread_state.always = rp_state.always;
}

void rp_threads_unlock(void)
{
    held--;
    RP_REAL(mutex_function, "pthread_mutex_unlock")(&mutex);
}

unsigned rp_threads_held(void)
{
    return held;
}

/* 0: only yields. */
static void rest(unsigned microseconds)
{
    unsigned levels = held;
    int before;

    for (unsigned i = 0; i < levels; i++)
        rp_threads_unlock();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE,
                           &before); /* a sleep of ours is no place to be cancelled at */
    if (microseconds == 0) {
        sched_yield();
    } else {
        rp_threads_rest();
        usleep(microseconds);
    }
    pthread_setcancelstate(before, NULL);
    for (unsigned i = 0; i < levels; i++)
        rp_threads_lock();
}

void rp_threads_give_way(unsigned *tries)
{
    enum { YIELDS = 200, SLEEP_US = 50 };

    rest(++*tries < YIELDS ? 0 : SLEEP_US);
}

void rp_threads_sleep(unsigned microseconds)
{
    rest(microseconds);
}

/* Who there is */

_Atomic uint64_t rp_threads_look;
const void *(*rp_threads_note)(void);
static struct rp_thread *enrolled;
static atomic_flag is_enrolling = ATOMIC_FLAG_INIT;

static void hold_list(void)
{
    while (atomic_flag_test_and_set(&is_enrolling))
        sched_yield();
}

void rp_threads_enrol(struct rp_thread *thread)
{
    thread->self = &rp_thread_state;
    thread->process = (int)syscall(SYS_gettid);
    thread->note = rp_threads_note ? rp_threads_note() : NULL;
    hold_list();
    thread->next = enrolled;
    enrolled = thread;
    atomic_flag_clear(&is_enrolling);
}

void rp_threads_take_off(struct rp_thread *thread)
{
    struct rp_thread **at = &enrolled;

    hold_list();
    while (*at && *at != thread)
        at = &(*at)->next;
    if (*at)
        *at = thread->next;
    atomic_flag_clear(&is_enrolling);
}

void rp_threads_forget(void)
{
    enrolled = NULL;
    atomic_flag_clear(&is_enrolling);
}

static void take_off(void *thread)
{
    rp_threads_take_off(thread);
}

bool rp_threads_all_are(bool (*is)(const struct rp_thread *thread))
{
    bool all = true;

    hold_list();
    for (const struct rp_thread *at = enrolled; at && all; at = at->next)
        all = is(at);
    atomic_flag_clear(&is_enrolling);
    return all;
}

/* Who is who */

static uint64_t own_identity(void)
{
    if (rp_thread_state.identity == 0 && syscall(SYS_gettid) == getpid())
        rp_thread_state.identity = 1;
    return rp_thread_state.identity;
}

static uint64_t identity_of_child(uint64_t parent)
{
    uint64_t mixed = parent + ++rp_thread_state.children * UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31 ? mixed ^ mixed >> 31 : 1;
}

/* Threads that never call MPI are followed only where that is asked for: it costs much where they
 * take locks often. */
static bool are_to_be_followed(void)
{
    int level = MPI_THREAD_SINGLE;

    rp_pmpi.Query_thread(&level);
    return level >= MPI_THREAD_SERIALIZED || rp_setting("REPRISE_THREADS");
}

/* LLVM's runtime lets threads add up in any order, by atomic instructions, unless a setting says
 * otherwise. It reads the setting when it is first used. */
__attribute__((constructor)) static void fix_reductions(void)
{
    if (rp_setting("REPRISE_MODE") && rp_setting("REPRISE_THREADS"))
        setenv("KMP_DETERMINISTIC_REDUCTION", "true", 0);
}

static void follow_threads(void)
{
    if (rp_threads_on || !are_to_be_followed())
        return;
    rp_engine->threads_begin();
    rp_slow_set(RP_SLOW_THREADS);
    rp_threads_on = 1;
    rp_sends_seen = 1;
}

void rp_threads_start(void)
{
    if (rp_engine && created)
        follow_threads();
}

bool rp_threads_are_left(void)
{
    return created && !rp_threads_on;
}

bool rp_threads_are_followed(void)
{
    return rp_threads_on && own_identity() != 0;
}

bool rp_threads_adopt(void)
{
    if (!rp_threads_on || own_identity() == 0)
        return false;
    rp_thread_state.depth &= ~(uint32_t)RP_UNTRACKED_THREAD;
    rp_thread_state.always = rp_state.always;
    return true;
}

bool rp_threads_lead(void)
{
    const struct rp_engine *engine = rp_engine;

    return engine && engine->leads && engine->leads();
}

bool rp_threads_follow(uintptr_t place)
{
    return rp_threads_on && rp_engine && !rp_is_inside() &&
           rp_caller_who(place) == RP_CALLER_PROGRAM && own_identity() != 0 &&
           (rp_thread_state.depth == 0 || rp_threads_adopt());
}

struct birth {
    void *(*start)(void *);
    thrd_start_t start_c11; /* of thrd_create */
    void *data;
    uint64_t identity;
};

static void *be_born(void *data)
{
    struct birth birth = *(struct birth *)data;

    struct rp_thread own;
    void *result;

    free(data);
    rp_thread_state.identity = birth.identity;
    rp_threads_enrol(&own);
    pthread_cleanup_push(take_off, &own);
    result = birth.start(birth.data);
    pthread_cleanup_pop(1);
    return result;
}

RP_ENTRY int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*start)(void *), void *data)
{
    struct birth *birth = rp_is_inside() || own_identity() == 0 || !rp_caller_is_program(RP_CALLER)
                              ? NULL
                              : malloc(sizeof *birth);

    if (!birth)
        return RP_REAL(create_function, "pthread_create")(thread, attributes, start, data);
    *birth = (struct birth){start, NULL, data, identity_of_child(rp_thread_state.identity)};
    created = true;
    rp_threads_start();
    int rc = RP_REAL(create_function, "pthread_create")(thread, attributes, be_born, birth);
    if (rc != 0)
        free(birth);
    return rc;
}

static int be_born_c11(void *data)
{
    struct birth birth = *(struct birth *)data;

    struct rp_thread own;
    int result;

    free(data);
    rp_thread_state.identity = birth.identity;
    rp_threads_enrol(&own);
    pthread_cleanup_push(take_off, &own);
    result = birth.start_c11(birth.data);
    pthread_cleanup_pop(1);
    return result;
}

RP_ENTRY int thrd_create(thrd_t *thread, thrd_start_t start, void *data)
{
    struct birth *birth = rp_is_inside() || own_identity() == 0 || !rp_caller_is_program(RP_CALLER)
                              ? NULL
                              : malloc(sizeof *birth);

    if (!birth)
        return RP_REAL(create_c11_function, "thrd_create")(thread, start, data);
    *birth = (struct birth){NULL, start, data, identity_of_child(rp_thread_state.identity)};
    created = true;
    rp_threads_start();
    int rc = RP_REAL(create_c11_function, "thrd_create")(thread, be_born_c11, birth);
    if (rc != thrd_success)
        free(birth);
    return rc;
}
