/* SPDX-License-Identifier: MIT */
/* Channels: what this rank and each other one have sent each other, and how much of it is kept. */
#ifndef RP_FT_CHANNELS_H
#define RP_FT_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/ft_log.h"

/* The channels to one rank and from it. */
struct rp_ft_channel {
    struct rp_ft_log log;
    uint64_t sent;          /* messages, and the seq of the next */
    uint64_t setup_sent;    /* the first one that is not of the setup */
    uint64_t peer_has;      /* the receiver has all before this seq, but for `wanted` */
    uint64_t *wanted;       /* sorted: payloads that it lacks */
    uint64_t *wanted_setup; /* of messages that are repeated for it */
    size_t wanted_count, wanted_setup_count;
    uint64_t arrived;       /* messages: the seq of the next */
    uint64_t setup_again;   /* sent, when we run through the setup again */
    uint64_t setup_arrived; /* of those that are repeated for us */
    uint64_t setup_wanted;  /* they run through the setup again, and lack what is from here on;
                               UINT64_MAX: they do not */
};
extern struct rp_ft_channel *rp_ft_channels; /* one for each rank */

/* How much the logs may hold; 0: as much as there is. */
struct rp_ft_capacity {
    size_t bytes;
    long iterations; /* that they reach back */
};
extern struct rp_ft_capacity rp_ft_capacity;

/* Makes the channels, and reads the settings of the capacity. */
void rp_ft_channels_start(void);

/* Returns the entry of the message that was sent to `to` with this seq, or NULL. */
struct rp_ft_entry *rp_ft_channel_find_sent(int to, uint64_t seq);

/* The setup ends: what was sent until now stays in all logs. */
void rp_ft_channels_setup_ends(void);

/* What is sent from here on belongs to this iteration. Drops the messages of iterations beyond the
 * capacity. */
void rp_ft_channels_begin_iteration(long iteration);

/* Drops the oldest entries while the logs hold more than the capacity, behind the setup. */
void rp_ft_channels_cap(void);

/* Nothing is dropped from here on. */
void rp_ft_channels_uncap(void);

/* Returns whether there is a capacity. */
bool rp_ft_channels_are_capped(void);

#endif
