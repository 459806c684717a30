/* SPDX-License-Identifier: MIT */
/*
 * The locks of a program whose threads are followed: their order decides the order of the MPI calls
 * made under them, so that a replay must keep it.
 *
 * Taking a lock is a turn, noted when it was taken. In a replay a thread waits for its turn and
 * then tries until it has the lock: its holder before has had all its turns, and is about to give
 * it back. So it is with a semaphore, whose post comes from a thread that has had its turns. What a
 * function that may fail answered is a value of the record, and the lock is taken if it was. A
 * condition variable gives its mutex back when it wakes: in a replay, that is all it does.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "preload/caller.h"
#include "entry/entry.h"
#include "entry/threads.h"

struct lock {
    void *object;
    int (*try)(void *); /* 0: taken; EBUSY: not now; else an error */
};

/* Recording: a lock was taken. */
static void note_taken(const struct rp_call *call)
{
    rp_turn_begin(call, false);
    rp_turn_end(false);
}

static int take_in_turn(const struct rp_call *call, struct lock lock)
{
    unsigned tries = 0;
    int rc;

    rp_turn_begin(call, false);
    while ((rc = lock.try(lock.object)) == EBUSY)
        rp_threads_give_way(&tries);
    rp_turn_end(false);
    return rc;
}

static int value_in_turn(const struct rp_call *call, struct lock lock)
{
    int32_t rc = 0;
    uint64_t unused = 0;
    unsigned tries = 0;

    rp_threads_lock();
    rp_thread_state.depth++;
    bool known = rp_engine && rp_engine->value(call, &rc, &unused);
    while (known && rc == 0 && lock.try(lock.object) == EBUSY)
        rp_threads_give_way(&tries);
    if (!known)
        rc = lock.try(lock.object);
    else if (rp_engine)
        rp_engine->value_taken();
    rp_thread_state.depth--;
    rp_threads_unlock();
    return rc;
}

static int note_value(const struct rp_call *call, int32_t rc)
{
    uint64_t unused = 0;

    rp_threads_lock();
    rp_thread_state.depth++;
    if (rp_engine)
        rp_engine->value(call, &rc, &unused);
    rp_thread_state.depth--;
    rp_threads_unlock();
    return rc;
}

/* Mutexes */

typedef int mutex_function(pthread_mutex_t *);
typedef int timed_function(pthread_mutex_t *, const struct timespec *);
typedef int clocked_function(pthread_mutex_t *, clockid_t, const struct timespec *);

static int try_mutex(void *mutex)
{
    return RP_REAL(mutex_function, "pthread_mutex_trylock")(mutex);
}

static struct lock of_mutex(pthread_mutex_t *mutex)
{
    return (struct lock){mutex, try_mutex};
}

/* A mutex that checks for errors, and that this thread has already: no turn. (Its kind is in the
 * two lowest bits, in every version of the C library.) */
static bool is_own_checked(const pthread_mutex_t *m)
{
    return (m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP &&
           m->__data.__owner == (int)syscall(SYS_gettid);
}

static int take_mutex(const struct rp_call *call, pthread_mutex_t *m)
{
    if (rp_threads_lead() && !is_own_checked(m))
        return take_in_turn(call, of_mutex(m));
    int rc = RP_REAL(mutex_function, "pthread_mutex_lock")(m);
    if (rc == 0 || rc == EOWNERDEAD) /* of a robust one: it is ours all the same */
        note_taken(call);
    return rc;
}

RP_ENTRY int pthread_mutex_lock(pthread_mutex_t *m)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(mutex_function, "pthread_mutex_lock")(m);
    struct rp_call call = RP_CALL("pthread_mutex_lock");
    return take_mutex(&call, m);
}

RP_ENTRY int pthread_mutex_trylock(pthread_mutex_t *m)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(mutex_function, "pthread_mutex_trylock")(m);
    struct rp_call call = RP_CALL("pthread_mutex_trylock");
    if (rp_threads_lead())
        return value_in_turn(&call, of_mutex(m));
    return note_value(&call, RP_REAL(mutex_function, "pthread_mutex_trylock")(m));
}

RP_ENTRY int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(timed_function, "pthread_mutex_timedlock")(m, until);
    struct rp_call call = RP_CALL("pthread_mutex_timedlock");
    if (rp_threads_lead())
        return value_in_turn(&call, of_mutex(m));
    return note_value(&call, RP_REAL(timed_function, "pthread_mutex_timedlock")(m, until));
}

RP_ENTRY int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
                                     const struct timespec *until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(clocked_function, "pthread_mutex_clocklock")(m, clock, until);
    struct rp_call call = RP_CALL("pthread_mutex_clocklock");
    if (rp_threads_lead())
        return value_in_turn(&call, of_mutex(m));
    return note_value(&call, RP_REAL(clocked_function, "pthread_mutex_clocklock")(m, clock, until));
}

/* Condition variables */

typedef int wait_function(pthread_cond_t *, pthread_mutex_t *);
typedef int timedwait_function(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
typedef int clockwait_function(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                               const struct timespec *);

RP_ENTRY int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *m)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(wait_function, "pthread_cond_wait")(condition, m);
    struct rp_call call = RP_CALL("pthread_cond_wait");
    if (rp_threads_lead()) {
        RP_REAL(mutex_function, "pthread_mutex_unlock")(m);
        return take_in_turn(&call, of_mutex(m));
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
    rp_thread_state.depth++;
    bool known = rp_engine && rp_engine->value(call, &rc, &unused);
    while (try_mutex(m) == EBUSY)
        rp_threads_give_way(&tries);
    if (known && rp_engine)
        rp_engine->value_taken();
    rp_thread_state.depth--;
    rp_threads_unlock();
    return rc;
}

RP_ENTRY int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *m,
                                    const struct timespec *until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(timedwait_function, "pthread_cond_timedwait")(condition, m, until);
    struct rp_call call = RP_CALL("pthread_cond_timedwait");
    if (rp_threads_lead())
        return timed_in_turn(&call, m);
    return note_value(&call,
                      RP_REAL(timedwait_function, "pthread_cond_timedwait")(condition, m, until));
}

RP_ENTRY int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *m, clockid_t clock,
                                    const struct timespec *until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(clockwait_function, "pthread_cond_clockwait")(condition, m, clock, until);
    struct rp_call call = RP_CALL("pthread_cond_clockwait");
    if (rp_threads_lead())
        return timed_in_turn(&call, m);
    return note_value(&call, RP_REAL(clockwait_function, "pthread_cond_clockwait")(condition, m,
                                                                                   clock, until));
}

/* C11's mutexes and condition variables are those of POSIX by other names and answers. */

typedef int c11_function(mtx_t *);
typedef int c11_timed_function(mtx_t *, const struct timespec *);
typedef int c11_wait_function(cnd_t *, mtx_t *);
typedef int c11_timedwait_function(cnd_t *, mtx_t *, const struct timespec *);

static int c11_answer(int rc)
{
    return rc == 0           ? thrd_success
           : rc == EBUSY     ? thrd_busy
           : rc == ETIMEDOUT ? thrd_timedout
                             : thrd_error;
}

RP_ENTRY int mtx_lock(mtx_t *m)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(c11_function, "mtx_lock")(m);
    struct rp_call call = RP_CALL("mtx_lock");
    return c11_answer(take_mutex(&call, (pthread_mutex_t *)m));
}

RP_ENTRY int mtx_trylock(mtx_t *m)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(c11_function, "mtx_trylock")(m);
    struct rp_call call = RP_CALL("mtx_trylock");
    if (rp_threads_lead())
        return c11_answer(value_in_turn(&call, of_mutex((pthread_mutex_t *)m)));
    return c11_answer(note_value(&call, try_mutex(m)));
}

RP_ENTRY int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(c11_timed_function, "mtx_timedlock")(m, until);
    struct rp_call call = RP_CALL("mtx_timedlock");
    if (rp_threads_lead())
        return c11_answer(value_in_turn(&call, of_mutex((pthread_mutex_t *)m)));
    return c11_answer(
        note_value(&call, RP_REAL(timed_function, "pthread_mutex_timedlock")((pthread_mutex_t *)m,
                                                                             until)));
}

RP_ENTRY int cnd_wait(cnd_t *condition, mtx_t *m)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(c11_wait_function, "cnd_wait")(condition, m);
    struct rp_call call = RP_CALL("cnd_wait");
    if (rp_threads_lead()) {
        RP_REAL(mutex_function, "pthread_mutex_unlock")((pthread_mutex_t *)m);
        return c11_answer(take_in_turn(&call, of_mutex((pthread_mutex_t *)m)));
    }
    int rc = RP_REAL(c11_wait_function, "cnd_wait")(condition, m);
    note_taken(&call);
    return rc;
}

RP_ENTRY int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict m,
                           const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(c11_timedwait_function, "cnd_timedwait")(condition, m, until);
    struct rp_call call = RP_CALL("cnd_timedwait");
    if (rp_threads_lead())
        return timed_in_turn(&call, (pthread_mutex_t *)m);
    return note_value(&call, RP_REAL(c11_timedwait_function, "cnd_timedwait")(condition, m, until));
}

/* Spin locks */

typedef int spin_function(pthread_spinlock_t *);

static int try_spin(void *lock)
{
    return RP_REAL(spin_function, "pthread_spin_trylock")(lock);
}

RP_ENTRY int pthread_spin_lock(pthread_spinlock_t *lock)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(spin_function, "pthread_spin_lock")(lock);
    struct rp_call call = RP_CALL("pthread_spin_lock");
    if (rp_threads_lead())
        return take_in_turn(&call, (struct lock){(void *)lock, try_spin});
    int rc = RP_REAL(spin_function, "pthread_spin_lock")(lock);
    note_taken(&call);
    return rc;
}

RP_ENTRY int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(spin_function, "pthread_spin_trylock")(lock);
    struct rp_call call = RP_CALL("pthread_spin_trylock");
    if (rp_threads_lead())
        return value_in_turn(&call, (struct lock){(void *)lock, try_spin});
    return note_value(&call, RP_REAL(spin_function, "pthread_spin_trylock")(lock));
}

/* Read-write locks */

typedef int rw_function(pthread_rwlock_t *);
typedef int rw_timed_function(pthread_rwlock_t *, const struct timespec *);
typedef int rw_clocked_function(pthread_rwlock_t *, clockid_t, const struct timespec *);

static int try_read(void *lock)
{
    return RP_REAL(rw_function, "pthread_rwlock_tryrdlock")(lock);
}

static int try_write(void *lock)
{
    return RP_REAL(rw_function, "pthread_rwlock_trywrlock")(lock);
}

/* This thread writes already: the answer is an error, and no turn. */
static bool is_own_written(const pthread_rwlock_t *lock)
{
    return lock->__data.__cur_writer == (int)syscall(SYS_gettid);
}

static int take_rw(const struct rp_call *call, struct lock lock, rw_function *real)
{
    if (rp_threads_lead() && !is_own_written(lock.object))
        return take_in_turn(call, lock);
    int rc = real(lock.object);
    if (rc == 0)
        note_taken(call);
    return rc;
}

RP_ENTRY int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    rw_function *real = RP_REAL(rw_function, "pthread_rwlock_rdlock");

    if (!RP_THREADS_FOLLOWED())
        return real(lock);
    struct rp_call call = RP_CALL("pthread_rwlock_rdlock");
    return take_rw(&call, (struct lock){lock, try_read}, real);
}

RP_ENTRY int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    rw_function *real = RP_REAL(rw_function, "pthread_rwlock_wrlock");

    if (!RP_THREADS_FOLLOWED())
        return real(lock);
    struct rp_call call = RP_CALL("pthread_rwlock_wrlock");
    return take_rw(&call, (struct lock){lock, try_write}, real);
}

RP_ENTRY int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    if (!RP_THREADS_FOLLOWED())
        return try_read(lock);
    struct rp_call call = RP_CALL("pthread_rwlock_tryrdlock");
    if (rp_threads_lead())
        return value_in_turn(&call, (struct lock){lock, try_read});
    return note_value(&call, try_read(lock));
}

RP_ENTRY int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    if (!RP_THREADS_FOLLOWED())
        return try_write(lock);
    struct rp_call call = RP_CALL("pthread_rwlock_trywrlock");
    if (rp_threads_lead())
        return value_in_turn(&call, (struct lock){lock, try_write});
    return note_value(&call, try_write(lock));
}

RP_ENTRY int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock,
                                        const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(rw_timed_function, "pthread_rwlock_timedrdlock")(lock, until);
    struct rp_call call = RP_CALL("pthread_rwlock_timedrdlock");
    if (rp_threads_lead())
        return value_in_turn(&call, (struct lock){lock, try_read});
    return note_value(&call, RP_REAL(rw_timed_function, "pthread_rwlock_timedrdlock")(lock, until));
}

RP_ENTRY int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock,
                                        const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(rw_timed_function, "pthread_rwlock_timedwrlock")(lock, until);
    struct rp_call call = RP_CALL("pthread_rwlock_timedwrlock");
    if (rp_threads_lead())
        return value_in_turn(&call, (struct lock){lock, try_write});
    return note_value(&call, RP_REAL(rw_timed_function, "pthread_rwlock_timedwrlock")(lock, until));
}

RP_ENTRY int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                        const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(rw_clocked_function, "pthread_rwlock_clockrdlock")(lock, clock, until);
    struct rp_call call = RP_CALL("pthread_rwlock_clockrdlock");
    if (rp_threads_lead())
        return value_in_turn(&call, (struct lock){lock, try_read});
    return note_value(&call, RP_REAL(rw_clocked_function, "pthread_rwlock_clockrdlock")(lock, clock,
                                                                                        until));
}

RP_ENTRY int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                        const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(rw_clocked_function, "pthread_rwlock_clockwrlock")(lock, clock, until);
    struct rp_call call = RP_CALL("pthread_rwlock_clockwrlock");
    if (rp_threads_lead())
        return value_in_turn(&call, (struct lock){lock, try_write});
    return note_value(&call, RP_REAL(rw_clocked_function, "pthread_rwlock_clockwrlock")(lock, clock,
                                                                                        until));
}

/* Semaphores tell their errors by errno; here they are numbers, as those of locks. */

typedef int semaphore_function(sem_t *);
typedef int semaphore_timed_function(sem_t *, const struct timespec *);
typedef int semaphore_clocked_function(sem_t *, clockid_t, const struct timespec *);

static int error_of(int rc)
{
    return rc == 0 ? 0 : errno;
}

static int with_errno(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

static int try_semaphore(void *semaphore)
{
    int error = error_of(RP_REAL(semaphore_function, "sem_trywait")(semaphore));

    return error == EAGAIN || error == EINTR ? EBUSY : error;
}

RP_ENTRY int sem_wait(sem_t *semaphore)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(semaphore_function, "sem_wait")(semaphore);
    struct rp_call call = RP_CALL("sem_wait");
    if (rp_threads_lead())
        return with_errno(take_in_turn(&call, (struct lock){semaphore, try_semaphore}));
    int rc = RP_REAL(semaphore_function, "sem_wait")(semaphore);
    if (rc == 0)
        note_taken(&call);
    return rc;
}

RP_ENTRY int sem_trywait(sem_t *semaphore)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(semaphore_function, "sem_trywait")(semaphore);
    struct rp_call call = RP_CALL("sem_trywait");
    if (rp_threads_lead())
        return with_errno(value_in_turn(&call, (struct lock){semaphore, try_semaphore}));
    return with_errno(
        note_value(&call, error_of(RP_REAL(semaphore_function, "sem_trywait")(semaphore))));
}

RP_ENTRY int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(semaphore_timed_function, "sem_timedwait")(semaphore, until);
    struct rp_call call = RP_CALL("sem_timedwait");
    if (rp_threads_lead())
        return with_errno(value_in_turn(&call, (struct lock){semaphore, try_semaphore}));
    return with_errno(note_value(&call, error_of(RP_REAL(semaphore_timed_function,
                                                         "sem_timedwait")(semaphore, until))));
}

RP_ENTRY int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
                           const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(semaphore_clocked_function, "sem_clockwait")(semaphore, clock, until);
    struct rp_call call = RP_CALL("sem_clockwait");
    if (rp_threads_lead())
        return with_errno(value_in_turn(&call, (struct lock){semaphore, try_semaphore}));
    return with_errno(
        note_value(&call, error_of(RP_REAL(semaphore_clocked_function,
                                           "sem_clockwait")(semaphore, clock, until))));
}

/* Barriers: one thread of each round is told that it is the one. */

typedef int barrier_function(pthread_barrier_t *);

static int try_nothing(void *rc)
{
    return *(int *)rc;
}

RP_ENTRY int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    int rc = RP_REAL(barrier_function, "pthread_barrier_wait")(barrier);

    if (!RP_THREADS_FOLLOWED())
        return rc;
    struct rp_call call = RP_CALL("pthread_barrier_wait");
    return rp_threads_lead() ? value_in_turn(&call, (struct lock){&rc, try_nothing})
                             : note_value(&call, rc);
}

/* Locks of OpenMP, by any runtime, in C and in Fortran. What a test answers is how deep a nested
 * lock is now, and 1 for a simple one. */

typedef void omp_set_function(void *);
typedef int omp_test_function(void *);

static void set_omp(const struct rp_call *call, void *lock, int (*try)(void *),
                    omp_set_function *real)
{
    if (rp_threads_lead()) {
        take_in_turn(call, (struct lock){lock, try});
        return;
    }
    real(lock);
    note_taken(call);
}

static int test_omp(const struct rp_call *call, void *lock, int (*try)(void *),
                    omp_test_function *real)
{
    int32_t depth = 0;
    uint64_t unused = 0;
    unsigned tries = 0;

    if (!rp_threads_lead())
        return note_value(call, real(lock));
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
 * Critical sections of OpenMP, by the runtimes of GCC and LLVM, which have no function that tries:
 * threads that are followed take a mutex of ours first, in turn, and then the runtime's, which only
 * threads that are not followed can hold.
 */

typedef void critical_function(void);
typedef void critical_name_function(void **);
typedef void kmpc_function(void *place, int32_t thread, void *name);
typedef void kmpc_hint_function(void *place, int32_t thread, void *name, uint32_t hint);

static pthread_mutex_t unnamed = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t atomic =
    PTHREAD_MUTEX_INITIALIZER; /* what the compiler cannot do by one instruction: reductions of
                                  several variables, for one */

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

/* Whether the sections that this thread is in, innermost in the lowest bit, are followed: that may
 * begin and end inside one. */
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
    RP_REAL(mutex_function, "pthread_mutex_unlock")(mutex);
}

#define CRITICAL(type, start, end, mutex, parameters, arguments)                                   \
    void start parameters;                                                                         \
    void end parameters;                                                                           \
    RP_ENTRY void start parameters                                                                 \
    {                                                                                              \
        struct rp_call call = RP_CALL(#start);                                                     \
        if (enters_followed(RP_CALLER))                                                            \
            take_mutex(&call, mutex);                                                              \
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
        take_mutex(&call, named(name));
    RP_REAL(kmpc_hint_function, "__kmpc_critical_with_hint")(place, thread, name, hint);
}
