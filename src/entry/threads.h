/* SPDX-License-Identifier: MIT */
/*
 * Programs whose threads call MPI. From the moment that such a program creates its first thread (or
 * initialises MPI, if that comes later), all its MPI calls that matter are made one at a time,
 * under one lock, and in one order, which is recorded and kept in a replay:
 *
 *  - a *turn* is a send, the post of a receive, the taking of a lock (interpose/locks.c), or
 * of a share of work (interpose/openmp_worksharing.c); blocking sends and receives are made of a
 * post and a wait;
 *  - blocking calls become polls, and the lock is free between them;
 *  - an event that follows another thread's turn or event says first whose turn it is now
 * (engine->turn_begin).
 *
 * Threads are known by how they were created: the n-th thread that a known thread created.
 */
#ifndef RP_THREADS_H
#define RP_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/visibility.h"
#include "entry/engine.h"
#include "entry/thread_state.h"

extern RP_HIDDEN int rp_threads_on;

/* Called when MPI was initialised and an engine is in force. */
void rp_threads_start(void);

/* Whether the program has created threads that are not followed. */
bool rp_threads_are_left(void);

/* The calling thread has no stream: whether it has one now, since it is the program's and threads
 * are followed. */
bool rp_threads_adopt(void);

/* Whether what this thread does at that place of the program, other than calls of MPI, is to keep
 * its order. */
bool rp_threads_follow(uintptr_t place);
#define RP_THREADS_FOLLOWED() (__builtin_expect(rp_threads_on, 0) && rp_threads_follow(RP_CALLER))

/* Whether the order is the engine's, so that a thread waits for its turn. */
bool rp_threads_lead(void);

void rp_threads_lock(void);
void rp_threads_unlock(void);

/*
 * For whoever watches whether anything moves: the program's threads, and at which look each last
 * waited for long. What `rp_threads_note` returned in a thread is kept with it.
 */
struct rp_thread {
    struct rp_thread *next;
    struct rp_thread_state *self;
    int process; /* its number, as the system has it */
    const void *note;
};
extern RP_HIDDEN _Atomic uint64_t rp_threads_look;
extern RP_HIDDEN const void *(*rp_threads_note)(void);

/* The calling thread, until it is taken off; the memory is the caller's. */
void rp_threads_enrol(struct rp_thread *thread);
void rp_threads_take_off(struct rp_thread *thread);

/* In a child of fork, which has none of them. */
void rp_threads_forget(void);

/* Whether all are as `is` says, which must not wait for any. */
bool rp_threads_all_are(bool (*is)(const struct rp_thread *thread));

/* The calling thread waits, and has for long. */
static inline void rp_threads_rest(void)
{
    rp_thread_state.rested = rp_threads_look;
}

unsigned rp_threads_held(void); /* how often the calling thread has it */

/* Frees the lock altogether for a while. `tries` counts how often, from 0. */
void rp_threads_give_way(unsigned *tries);
void rp_threads_sleep(unsigned microseconds); /* the same, asleep */

/* Whether the calling thread is one of the program's. */
bool rp_threads_are_followed(void);

/* Around engine code, by entry points: nothing where there are no threads. */
static inline void rp_threads_enter(void)
{
    if (__builtin_expect(rp_threads_on, 0))
        rp_threads_lock();
}

static inline void rp_threads_leave(void)
{
    if (__builtin_expect(rp_threads_on, 0))
        rp_threads_unlock();
}

/* A turn of the calling thread begins: the lock is taken, and it is this thread's turn. */
static inline void rp_turn_begin(const struct rp_call *call, bool is_post)
{
    if (__builtin_expect(!rp_threads_on, 1))
        return;
    rp_threads_lock();
    rp_thread_state.depth++;
    if (rp_engine) /* another thread may have ended MPI */
        rp_engine->turn_begin(call, is_post);
}

/* Receives are counted as posts, everything else as turns. */
static inline void rp_turn_end(bool is_post)
{
    if (__builtin_expect(!rp_threads_on, 1))
        return;
    rp_thread_state.depth--;
    if (!is_post && rp_engine)
        rp_engine->turn_end();
    rp_threads_unlock();
}

#endif
