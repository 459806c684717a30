/* SPDX-License-Identifier: MIT */
/*
 * Decides what is disturbed, when and for how long, by pseudo-random numbers that follow from the
 * seed of the run and the rank. This part knows nothing of MPI.
 *
 * A run has a manner, the same on all ranks: how often and how long calls are delayed, how often
 * messages that are here are kept back, which of several messages is preferred. Noise of one kind
 * and strength finds bugs of one kind. Besides, a rank is slow for a while now and then, while
 * others are not.
 */
#ifndef RP_CHANCE_H
#define RP_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

enum rp_preference {
    RP_PREFER_ANY,
    RP_PREFER_LOW_RANKS,
    RP_PREFER_HIGH_RANKS,
    RP_PREFER_LATE,
    RP_PREFERENCES
};

struct rp_manner {
    uint32_t delay_one_in;     /* of sends, of a rank that is not slow */
    uint32_t keep_back_one_in; /* of messages that are here */
    uint64_t longest;          /* delay in nanoseconds */
    enum rp_preference preference;
};

/* Returns the manner of the run with this seed. No delay will be longer than `longest`
 * nanoseconds. */
struct rp_manner rp_manner_of(uint64_t seed, uint64_t longest);

/* The state of the decisions; each thread that calls MPI has one. */
struct rp_chance {
    struct rp_manner manner;
    uint64_t state;
    uint64_t started, delayed; /* nanoseconds: when, and how much of the time since is our doing */
    uint32_t until_change;     /* decisions until it is drawn again whether the rank is slow */
    uint32_t kept_back;        /* in a row */
    bool slow;
};

void rp_chance_init(struct rp_chance *chance, uint64_t seed, uint64_t rank, uint64_t longest,
                    uint64_t now);

/* Returns a pseudo-random number below n > 0. */
uint64_t rp_chance_below(struct rp_chance *chance, uint64_t n);

/* Looking for other messages takes time, too. rp_chance_has_time returns whether there is time left
 * for it; rp_chance_used adds the nanoseconds that it took. */
bool rp_chance_has_time(const struct rp_chance *chance, uint64_t now);
void rp_chance_used(struct rp_chance *chance, uint64_t nanoseconds);

/* Returns for how many nanoseconds a send at `now` is to be delayed; mostly 0. All delays and looks
 * together take at most a second and a quarter of the time since the start; only the last look can
 * exceed that. */
uint64_t rp_chance_delay(struct rp_chance *chance, uint64_t now);

/* Returns for how many nanoseconds to wait for other messages when one is here; mostly 0. The bound
 * of rp_chance_delay holds for these waits, too. */
uint64_t rp_chance_wait(struct rp_chance *chance, uint64_t now);

/* Returns whether a poll that could say yes is to say no. It returns true at most
 * RP_KEPT_BACK_IN_A_ROW times in a row. */
bool rp_chance_keeps_back(struct rp_chance *chance);
enum { RP_KEPT_BACK_IN_A_ROW = 8 };

/* Returns which of `count` > 0 messages is taken. They are numbered in the order of their senders;
 * `first` is the one that MPI would take, or any number from `count` on if that is not known. */
uint32_t rp_chance_choose(struct rp_chance *chance, uint32_t count, uint32_t first);

#endif
