/* SPDX-License-Identifier: MIT */
/*
 * Channels, and the capacity of their logs, in bytes or in iterations (Dichev and others, sections
 * 5 and 6). The oldest entries of the loop are dropped, never the latest, nor what a receiver has
 * not read yet: what is still on its way must be there. If a rank needs what was dropped, all roll
 * back. No message is on its way across a checkpoint, so a rollback needs no log.
 */
#include "ft/ft_channels.h"

#include <stdlib.h>

#include "ft/ft_abort.h"
#include "ft/ft_state.h"
#include "job/settings.h"

struct rp_ft_channel *rp_ft_channels;
struct rp_ft_capacity rp_ft_capacity;

void rp_ft_channels_start(void)
{
    const char *bytes = rp_setting("REPRISE_FT_CAPACITY");
    const char *iterations = rp_setting("REPRISE_FT_CAPACITY_ITERATIONS");

    rp_ft_channels = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *rp_ft_channels);
    for (int i = 0; i < rp_ft.ranks; i++)
        rp_ft_channels[i].setup_wanted = UINT64_MAX;
    if (bytes)
        rp_ft_capacity.bytes = strtoull(bytes, NULL, 10);
    if (iterations)
        rp_ft_capacity.iterations = strtol(iterations, NULL, 10);
}

struct rp_ft_entry *rp_ft_channel_find_sent(int to, uint64_t seq)
{
    struct rp_ft_log *log = &rp_ft_channels[to].log;
    struct rp_ft_entry *lists[] = {log->setup_first, log->first};

    for (int i = 0; i < 2; i++)
        for (struct rp_ft_entry *entry = lists[i]; entry; entry = entry->next)
            if (entry->envelope.seq == seq)
                return entry;
    return NULL;
}

void rp_ft_channels_setup_ends(void)
{
    for (int i = 0; i < rp_ft.ranks; i++) {
        rp_ft_channels[i].setup_sent = rp_ft_channels[i].sent;
        rp_ft_log_setup_ends(&rp_ft_channels[i].log);
    }
}

/* Drops what is older than the capacity in iterations, but for what is being sent. */
void rp_ft_channels_begin_iteration(long iteration)
{
    rp_ft_log_begin(iteration);
    for (int i = 0; i < rp_ft.ranks && rp_ft_capacity.iterations; i++) {
        struct rp_ft_log *log = &rp_ft_channels[i].log;
        while (log->first && iteration - log->first->iteration >= rp_ft_capacity.iterations &&
               !rp_ft_entry_is_in_use(log->first))
            rp_ft_log_release(log, log->first->envelope.seq + 1);
    }
}

static bool is_over_capacity(void)
{
    return rp_ft_capacity.bytes && rp_ft_log_bytes() > rp_ft_capacity.bytes;
}

/* The channel whose oldest entry of the loop is in the way: any will do, the largest share comes up
 * most often. */
void rp_ft_channels_cap(void)
{
    static int next;

    if (rp_ft.in_setup)
        return;
    for (int tried = 0; is_over_capacity() && tried < rp_ft.ranks;
         tried++, next = (next + 1) % rp_ft.ranks) {
        struct rp_ft_log *log = &rp_ft_channels[next].log;
        struct rp_ft_entry *first = log->first;
        if (first && !rp_ft_entry_is_in_use(first) && first != log->last) {
            rp_ft_log_release(log, first->envelope.seq + 1);
            tried = -1;
        }
    }
}

void rp_ft_channels_uncap(void)
{
    rp_ft_capacity = (struct rp_ft_capacity){0};
}

bool rp_ft_channels_are_capped(void)
{
    return rp_ft_capacity.bytes || rp_ft_capacity.iterations;
}
