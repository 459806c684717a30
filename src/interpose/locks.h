/* SPDX-License-Identifier: MIT */
/* Locks of threads that are followed: taken in the order of the record (interpose/locks.c). */
#ifndef RP_LOCKS_H
#define RP_LOCKS_H

#include <pthread.h>

#include "entry/entry.h"

struct rp_lock {
    void *object;
    int (*try)(void *); /* 0: taken; EBUSY: not now; else an error */
};

typedef int rp_mutex_function(pthread_mutex_t *);

/* Recording: the call took a lock. */
void rp_lock_note_taken(const struct rp_call *call);

/* Replay: takes the lock when it is this thread's turn. Returns what lock.try returned. */
int rp_lock_take_in_turn(const struct rp_call *call, struct rp_lock lock);

/* Of a function that may fail. Replay: returns what the record says, having taken the lock if that
 * is 0. Recording: what the real function returned is written down, and returned. */
int rp_lock_value_in_turn(const struct rp_call *call, struct rp_lock lock);
int rp_lock_note_value(const struct rp_call *call, int32_t rc);

/* Both: takes a mutex, and returns what pthread_mutex_lock does. */
int rp_lock_take_mutex(const struct rp_call *call, pthread_mutex_t *m);

#endif
