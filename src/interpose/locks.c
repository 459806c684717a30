/* SPDX-License-Identifier: MIT */
/*
 * The locks of a program whose threads are followed. Their order decides the order of the MPI calls
 * made under them, so a replay must keep it.
 *
 * Taking a lock is a turn, recorded when the lock was taken. In a replay a thread waits for its
 * turn and then tries until it has the lock: the previous holder has had all its turns, and is
 * about to release it. The same holds for a semaphore: the thread that posts it has had its turns.
 * The result of a function that may fail is a value of the record, and the lock is taken if the
 * recorded call took it. A condition variable releases its mutex while it waits and takes it again
 * when it wakes; a replay does only that.
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
#include "interpose/locks.h"

void rp_lock_note_taken(const struct rp_call *call)
{
    rp_turn_begin(call, false);
    rp_turn_end(false);
}

int rp_lock_take_in_turn(const struct rp_call *call, struct rp_lock lock)
{
    unsigned tries = 0;
    int rc;

    rp_turn_begin(call, false);
    while ((rc = lock.try(lock.object)) == EBUSY)
        rp_threads_give_way(&tries);
    rp_turn_end(false);
    return rc;
}

int rp_lock_value_in_turn(const struct rp_call *call, struct rp_lock lock)
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

int rp_lock_note_value(const struct rp_call *call, int32_t rc)
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

typedef int timed_function(pthread_mutex_t *, const struct timespec *);
typedef int clocked_function(pthread_mutex_t *, clockid_t, const struct timespec *);

static int try_mutex(void *mutex)
{
    return RP_REAL(rp_mutex_function, "pthread_mutex_trylock")(mutex);
}

static struct rp_lock of_mutex(pthread_mutex_t *mutex)
{
    return (struct rp_lock){mutex, try_mutex};
}

/* Returns whether it is an error-checking mutex that this thread holds already: that is no turn.
 * (Its kind is in the two lowest bits, in every version of the C library.) */
static bool is_own_checked(const pthread_mutex_t *m)
{
    return (m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP &&
           m->__data.__owner == (int)syscall(SYS_gettid);
}

int rp_lock_take_mutex(const struct rp_call *call, pthread_mutex_t *m)
{
    if (rp_threads_lead() && !is_own_checked(m))
        return rp_lock_take_in_turn(call, of_mutex(m));
    int rc = RP_REAL(rp_mutex_function, "pthread_mutex_lock")(m);
    if (rc == 0 || rc == EOWNERDEAD) /* EOWNERDEAD: a robust mutex, which we hold nevertheless */
        rp_lock_note_taken(call);
    return rc;
}

RP_ENTRY int pthread_mutex_lock(pthread_mutex_t *m)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(rp_mutex_function, "pthread_mutex_lock")(m);
    struct rp_call call = RP_CALL("pthread_mutex_lock");
    return rp_lock_take_mutex(&call, m);
}

RP_ENTRY int pthread_mutex_trylock(pthread_mutex_t *m)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(rp_mutex_function, "pthread_mutex_trylock")(m);
    struct rp_call call = RP_CALL("pthread_mutex_trylock");
    if (rp_threads_lead())
        return rp_lock_value_in_turn(&call, of_mutex(m));
    return rp_lock_note_value(&call, RP_REAL(rp_mutex_function, "pthread_mutex_trylock")(m));
}

RP_ENTRY int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(timed_function, "pthread_mutex_timedlock")(m, until);
    struct rp_call call = RP_CALL("pthread_mutex_timedlock");
    if (rp_threads_lead())
        return rp_lock_value_in_turn(&call, of_mutex(m));
    return rp_lock_note_value(&call, RP_REAL(timed_function, "pthread_mutex_timedlock")(m, until));
}

RP_ENTRY int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
                                     const struct timespec *until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(clocked_function, "pthread_mutex_clocklock")(m, clock, until);
    struct rp_call call = RP_CALL("pthread_mutex_clocklock");
    if (rp_threads_lead())
        return rp_lock_value_in_turn(&call, of_mutex(m));
    return rp_lock_note_value(&call, RP_REAL(clocked_function, "pthread_mutex_clocklock")(m, clock,
                                                                                          until));
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
        RP_REAL(rp_mutex_function, "pthread_mutex_unlock")(m);
        return rp_lock_take_in_turn(&call, of_mutex(m));
    }
    int rc = RP_REAL(wait_function, "pthread_cond_wait")(condition, m);
    rp_lock_note_taken(&call);
    return rc;
}

/* The mutex is taken again, whatever the result. */
static int timed_in_turn(const struct rp_call *call, pthread_mutex_t *m)
{
    int32_t rc = 0;
    uint64_t unused = 0;
    unsigned tries = 0;

    RP_REAL(rp_mutex_function, "pthread_mutex_unlock")(m);
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
    return rp_lock_note_value(&call, RP_REAL(timedwait_function,
                                             "pthread_cond_timedwait")(condition, m, until));
}

RP_ENTRY int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *m, clockid_t clock,
                                    const struct timespec *until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(clockwait_function, "pthread_cond_clockwait")(condition, m, clock, until);
    struct rp_call call = RP_CALL("pthread_cond_clockwait");
    if (rp_threads_lead())
        return timed_in_turn(&call, m);
    return rp_lock_note_value(&call, RP_REAL(clockwait_function,
                                             "pthread_cond_clockwait")(condition, m, clock, until));
}

/* C11's mutexes and condition variables are those of POSIX with other names and results. */

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
    return c11_answer(rp_lock_take_mutex(&call, (pthread_mutex_t *)m));
}

RP_ENTRY int mtx_trylock(mtx_t *m)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(c11_function, "mtx_trylock")(m);
    struct rp_call call = RP_CALL("mtx_trylock");
    if (rp_threads_lead())
        return c11_answer(rp_lock_value_in_turn(&call, of_mutex((pthread_mutex_t *)m)));
    return c11_answer(rp_lock_note_value(&call, try_mutex(m)));
}

RP_ENTRY int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(c11_timed_function, "mtx_timedlock")(m, until);
    struct rp_call call = RP_CALL("mtx_timedlock");
    if (rp_threads_lead())
        return c11_answer(rp_lock_value_in_turn(&call, of_mutex((pthread_mutex_t *)m)));
    return c11_answer(
        rp_lock_note_value(&call, RP_REAL(timed_function,
                                          "pthread_mutex_timedlock")((pthread_mutex_t *)m, until)));
}

RP_ENTRY int cnd_wait(cnd_t *condition, mtx_t *m)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(c11_wait_function, "cnd_wait")(condition, m);
    struct rp_call call = RP_CALL("cnd_wait");
    if (rp_threads_lead()) {
        RP_REAL(rp_mutex_function, "pthread_mutex_unlock")((pthread_mutex_t *)m);
        return c11_answer(rp_lock_take_in_turn(&call, of_mutex((pthread_mutex_t *)m)));
    }
    int rc = RP_REAL(c11_wait_function, "cnd_wait")(condition, m);
    rp_lock_note_taken(&call);
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
    return rp_lock_note_value(&call, RP_REAL(c11_timedwait_function, "cnd_timedwait")(condition, m,
                                                                                      until));
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
        return rp_lock_take_in_turn(&call, (struct rp_lock){(void *)lock, try_spin});
    int rc = RP_REAL(spin_function, "pthread_spin_lock")(lock);
    rp_lock_note_taken(&call);
    return rc;
}

RP_ENTRY int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(spin_function, "pthread_spin_trylock")(lock);
    struct rp_call call = RP_CALL("pthread_spin_trylock");
    if (rp_threads_lead())
        return rp_lock_value_in_turn(&call, (struct rp_lock){(void *)lock, try_spin});
    return rp_lock_note_value(&call, RP_REAL(spin_function, "pthread_spin_trylock")(lock));
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

/* Returns whether this thread holds the lock for writing: the result is an error, and no turn. */
static bool is_own_written(const pthread_rwlock_t *lock)
{
    return lock->__data.__cur_writer == (int)syscall(SYS_gettid);
}

static int take_rw(const struct rp_call *call, struct rp_lock lock, rw_function *real)
{
    if (rp_threads_lead() && !is_own_written(lock.object))
        return rp_lock_take_in_turn(call, lock);
    int rc = real(lock.object);
    if (rc == 0)
        rp_lock_note_taken(call);
    return rc;
}

RP_ENTRY int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    rw_function *real = RP_REAL(rw_function, "pthread_rwlock_rdlock");

    if (!RP_THREADS_FOLLOWED())
        return real(lock);
    struct rp_call call = RP_CALL("pthread_rwlock_rdlock");
    return take_rw(&call, (struct rp_lock){lock, try_read}, real);
}

RP_ENTRY int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    rw_function *real = RP_REAL(rw_function, "pthread_rwlock_wrlock");

    if (!RP_THREADS_FOLLOWED())
        return real(lock);
    struct rp_call call = RP_CALL("pthread_rwlock_wrlock");
    return take_rw(&call, (struct rp_lock){lock, try_write}, real);
}

RP_ENTRY int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    if (!RP_THREADS_FOLLOWED())
        return try_read(lock);
    struct rp_call call = RP_CALL("pthread_rwlock_tryrdlock");
    if (rp_threads_lead())
        return rp_lock_value_in_turn(&call, (struct rp_lock){lock, try_read});
    return rp_lock_note_value(&call, try_read(lock));
}

RP_ENTRY int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    if (!RP_THREADS_FOLLOWED())
        return try_write(lock);
    struct rp_call call = RP_CALL("pthread_rwlock_trywrlock");
    if (rp_threads_lead())
        return rp_lock_value_in_turn(&call, (struct rp_lock){lock, try_write});
    return rp_lock_note_value(&call, try_write(lock));
}

RP_ENTRY int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock,
                                        const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(rw_timed_function, "pthread_rwlock_timedrdlock")(lock, until);
    struct rp_call call = RP_CALL("pthread_rwlock_timedrdlock");
    if (rp_threads_lead())
        return rp_lock_value_in_turn(&call, (struct rp_lock){lock, try_read});
    return rp_lock_note_value(&call, RP_REAL(rw_timed_function,
                                             "pthread_rwlock_timedrdlock")(lock, until));
}

RP_ENTRY int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock,
                                        const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(rw_timed_function, "pthread_rwlock_timedwrlock")(lock, until);
    struct rp_call call = RP_CALL("pthread_rwlock_timedwrlock");
    if (rp_threads_lead())
        return rp_lock_value_in_turn(&call, (struct rp_lock){lock, try_write});
    return rp_lock_note_value(&call, RP_REAL(rw_timed_function,
                                             "pthread_rwlock_timedwrlock")(lock, until));
}

RP_ENTRY int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                        const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(rw_clocked_function, "pthread_rwlock_clockrdlock")(lock, clock, until);
    struct rp_call call = RP_CALL("pthread_rwlock_clockrdlock");
    if (rp_threads_lead())
        return rp_lock_value_in_turn(&call, (struct rp_lock){lock, try_read});
    return rp_lock_note_value(&call, RP_REAL(rw_clocked_function,
                                             "pthread_rwlock_clockrdlock")(lock, clock, until));
}

RP_ENTRY int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                        const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(rw_clocked_function, "pthread_rwlock_clockwrlock")(lock, clock, until);
    struct rp_call call = RP_CALL("pthread_rwlock_clockwrlock");
    if (rp_threads_lead())
        return rp_lock_value_in_turn(&call, (struct rp_lock){lock, try_write});
    return rp_lock_note_value(&call, RP_REAL(rw_clocked_function,
                                             "pthread_rwlock_clockwrlock")(lock, clock, until));
}

/* Semaphores report errors by errno. Here they are numbers, as those of locks. */

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
        return with_errno(rp_lock_take_in_turn(&call, (struct rp_lock){semaphore, try_semaphore}));
    int rc = RP_REAL(semaphore_function, "sem_wait")(semaphore);
    if (rc == 0)
        rp_lock_note_taken(&call);
    return rc;
}

RP_ENTRY int sem_trywait(sem_t *semaphore)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(semaphore_function, "sem_trywait")(semaphore);
    struct rp_call call = RP_CALL("sem_trywait");
    if (rp_threads_lead())
        return with_errno(rp_lock_value_in_turn(&call, (struct rp_lock){semaphore, try_semaphore}));
    return with_errno(
        rp_lock_note_value(&call, error_of(RP_REAL(semaphore_function, "sem_trywait")(semaphore))));
}

RP_ENTRY int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(semaphore_timed_function, "sem_timedwait")(semaphore, until);
    struct rp_call call = RP_CALL("sem_timedwait");
    if (rp_threads_lead())
        return with_errno(rp_lock_value_in_turn(&call, (struct rp_lock){semaphore, try_semaphore}));
    return with_errno(rp_lock_note_value(
        &call, error_of(RP_REAL(semaphore_timed_function, "sem_timedwait")(semaphore, until))));
}

RP_ENTRY int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
                           const struct timespec *restrict until)
{
    if (!RP_THREADS_FOLLOWED())
        return RP_REAL(semaphore_clocked_function, "sem_clockwait")(semaphore, clock, until);
    struct rp_call call = RP_CALL("sem_clockwait");
    if (rp_threads_lead())
        return with_errno(rp_lock_value_in_turn(&call, (struct rp_lock){semaphore, try_semaphore}));
    return with_errno(
        rp_lock_note_value(&call, error_of(RP_REAL(semaphore_clocked_function,
                                                   "sem_clockwait")(semaphore, clock, until))));
}

/* Barriers: one thread of each round gets PTHREAD_BARRIER_SERIAL_THREAD. */

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
    return rp_threads_lead() ? rp_lock_value_in_turn(&call, (struct rp_lock){&rc, try_nothing})
                             : rp_lock_note_value(&call, rc);
}
