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

/* Recording: notes that the call took a lock. */
void rp_lock_note_taken(const struct rp_call *call);

/* Replay: waits for this thread's turn, and then takes the lock. Returns what lock.try returned. */
int rp_lock_take_in_turn(const struct rp_call *call, struct rp_lock lock);

/* For a function that may fail. rp_lock_value_in_turn (replay) returns the recorded result, and
 * takes the lock if that is 0. rp_lock_note_value (recording) records the real function's result
 * `rc`, and returns it. */
int rp_lock_value_in_turn(const struct rp_call *call, struct rp_lock lock);
int rp_lock_note_value(const struct rp_call *call, int32_t rc);

/* Recording and replay: takes a mutex. Returns what pthread_mutex_lock returns. */
int rp_lock_take_mutex(const struct rp_call *call, pthread_mutex_t *m);

#endif
