/* SPDX-License-Identifier: MIT */
/*
 * Ranks whose threads call MPI.
 *
 * Recording, each entry of the data log is made under the lock of libreprise.so
 * (peers/peer_reprise.h), so the log has one order. A second log, that of turns, says for each
 * entry which thread made it, and how many polls of that thread were answered no before it. To take
 * a lock is a turn, too. Feeding, a thread waits until it is its turn.
 *
 * A poll that is answered no has no entry unless something became visible at it: how often a thread
 * polls may depend on what others do. Feeding, a thread is answered no as often as it was; from
 * then on, a poll waits for its turn if the thread's next entry is one of that function. Else it is
 * one poll too many, and answered no.
 */
#ifndef RP_PARTIAL_THREADS_H
#define RP_PARTIAL_THREADS_H

#include "peers/peer_reprise.h"
#include "partial/partial_state.h"

/* Where the log of turns is to be, if there will be several threads. */
void rp_threads_expect(const char *directory, uint64_t run, int rank, int ranks);
/* From now on other threads may call, too: makes the log of turns, or reads it. */
enum rp_status rp_threads_begin(struct rp_problem *why);
/* Feeding: the calling thread is about to end the rank. Waits until the others have made what they
 * made before the recorded end. */
void rp_threads_let_end(void);
/* The rank ends. Calls pass from now on. Returns the bytes written. */
uint64_t rp_threads_end(void);

/* Around an entry point: takes the lock; returns whether it did. `place` and `stack` are those of
 * the program's call. */
void rp_threads_enter(uintptr_t place, uintptr_t stack);
static inline bool rp_partial_enter(uintptr_t place, uintptr_t stack)
{
    if (__builtin_expect(!rp_partial.has_threads, 1))
        return false;
    rp_threads_enter(place, stack);
    return true;
}
#define RP_ENTER()                                                                                 \
    rp_partial_enter((uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0))

static inline void rp_partial_leave(bool is_locked)
{
    if (is_locked)
        reprise_threads_unlock();
}

/* Around a call of MPI that may wait: frees the lock, unless the caller of the entry point has it,
 * who then knows that it does not wait. */
bool rp_threads_open(void);
static inline bool rp_partial_open(void)
{
    return __builtin_expect(rp_partial.has_threads, 0) && rp_threads_open();
}

static inline void rp_partial_shut(bool is_open)
{
    if (is_open)
        reprise_threads_lock();
}

/* The same; meanwhile calls of this thread pass. */
static inline bool rp_real_begin(void)
{
    rp_data_off++;
    return rp_partial_open();
}

static inline void rp_real_end(bool is_open)
{
    rp_partial_shut(is_open);
    rp_data_off--;
}

/* Recording: frees the lock for a while. Does not return if the rank has ended. */
void rp_threads_pause(unsigned *tries);
/* MPI is gone: waits for the end of the process. */
void rp_threads_stay(void) __attribute__((noreturn));

/* The polls that follow are those of a call that waits, or no longer. */
void rp_threads_waits(bool begins);
bool rp_threads_wait(void);
/* The calls that follow are those of libreprise.so, or no longer: each has an entry. */
void rp_threads_asks(bool begins);

/* Recording: the calling thread makes an entry of this function, or takes a lock by it. */
void rp_threads_put(const struct rp_function *function);
void rp_threads_put_lock(const char *name);
/* Recording: a poll was answered no. Returns whether it needs no entry. */
bool rp_threads_skip_no(void);

enum rp_turn {
    RP_TURN_REACHED,
    RP_TURN_OTHER, /* the thread's next recorded call is another */
    RP_TURN_NONE,  /* it has none, and nothing moves any more */
    RP_TURN_OVER   /* the rank ends */
};
/* Feeding: waits until it is the calling thread's turn. Sets *recorded if the result is
 * RP_TURN_OTHER. rp_threads_advance ends the turn. */
enum rp_turn rp_threads_reach(const char *function, const char **recorded);
void rp_threads_advance(void);
/* Feeding: waits until it is the calling thread's turn, if it has any. */
void rp_threads_await(const char *function);
/* Feeding: whether this poll is to be answered by the record, and not by no. Then it is the
 * thread's turn. */
bool rp_threads_poll(const char *function);
/* Feeding: whose turn is left at the end, and by which function; NULL: nobody's. */
const char *rp_threads_left(int *thread);

/* Feeding: the number of the calling thread (-1: the record does not have it), and how many calls
 * it has made. */
int rp_threads_number(void);
uint64_t rp_threads_calls(void);

#endif
