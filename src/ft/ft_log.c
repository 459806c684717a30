/* SPDX-License-Identifier: MIT */
/*
 * The log of what was sent. Each channel has a list of entries; their memory is taken from arenas
 * (base/arena.h) in the order of sending.
 *
 * Entries of the setup are kept for ever: who takes over a rank runs through its setup again.
 *
 * Under a capacity, in bytes or in iterations (the paper's sections 5 and 6), the oldest entries of
 * the loop are dropped, never the latest, nor what a receiver has not read yet: what is still on
 * its way must be there. A rank that needs what was dropped makes all roll back; no message is on
 * its way across the line of a checkpoint, so that this needs no log.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diagnostics.h"
#include "ft/ft.h"

static struct rp_arenas arenas;
size_t rp_ft_log_bytes, rp_ft_log_capacity, rp_ft_log_peak;
long rp_ft_log_span;
static long current; /* iteration */

void rp_ft_log_start(void)
{
    rp_arenas_share(&arenas);
    rp_ft_share_start();
}

int rp_ft_log_file(void)
{
    return rp_arenas_file(&arenas);
}

uint64_t rp_ft_log_place(const struct rp_ft_entry *entry)
{
    return rp_arena_place(entry->arena, entry + 1);
}

void *rp_ft_payload(struct rp_ft_entry *entry)
{
    return entry + 1;
}

static size_t footprint(size_t bytes)
{
    return (sizeof(struct rp_ft_entry) + bytes + RP_FT_ALIGN - 1) / RP_FT_ALIGN * RP_FT_ALIGN;
}

static void forget(struct rp_ft_entry *entry)
{
    rp_ft_log_bytes -= footprint(entry->stored);
    rp_arena_give(entry->arena);
}

static void link(struct rp_ft_entry **first, struct rp_ft_entry **last, struct rp_ft_entry *entry)
{
    if (*last)
        (*last)->next = entry;
    else
        *first = entry;
    *last = entry;
}

struct rp_ft_entry *rp_ft_log_append(struct rp_ft_log *log, size_t stored, bool again)
{
    size_t all = footprint(stored);
    struct rp_arena *arena;
    struct rp_ft_entry *entry = rp_arena_take(&arenas, all, &arena);

    if (!entry)
        rp_ft_die(125,
                  "%s: out of memory for the log, which has %zu bytes now; set a capacity "
                  "(--capacity, --capacity-iterations) or checkpoint more often (--interval)",
                  rp_ft.call, rp_ft_log_bytes);
    memset(entry, 0, sizeof *entry);
    entry->arena = arena;
    entry->stored = stored;
    entry->iteration = current;
    if (again)
        link(&log->setup_first, &log->setup_last, entry);
    else
        link(&log->first, &log->last, entry);
    rp_ft_log_bytes += all;
    if (rp_ft_log_bytes > rp_ft_log_peak)
        rp_ft_log_peak = rp_ft_log_bytes;
    return entry;
}

void rp_ft_log_pin(struct rp_ft_entry *entry)
{
    rp_arena_keep(entry->arena);
}

void rp_ft_log_setup_ends(struct rp_ft_log *log)
{
    log->setup_first = log->first;
    log->setup_last = log->last;
    log->first = log->last = NULL;
    if (log->setup_last)
        log->first_seq = log->setup_last->wire.seq + 1;
}

static bool is_unread(const struct rp_ft_entry *entry)
{
    return entry->wire.flags & RP_FT_SHARED && !entry->taken;
}

void rp_ft_log_share_no_more(struct rp_ft_log *log)
{
    struct rp_ft_entry *lists[] = {log->setup_first, log->first};

    for (int i = 0; i < 2; i++)
        for (struct rp_ft_entry *entry = lists[i]; entry; entry = entry->next)
            entry->wire.flags &= ~(uint32_t)RP_FT_SHARED;
}

void rp_ft_log_release(struct rp_ft_log *log, uint64_t before)
{
    while (log->first && log->first->wire.seq < before && !log->first->under_way &&
           !is_unread(log->first)) {
        struct rp_ft_entry *entry = log->first;
        log->first = entry->next;
        log->first_seq = entry->wire.seq + 1;
        if (!log->first)
            log->last = NULL;
        forget(entry);
    }
    if (!log->first && log->first_seq < before)
        log->first_seq = before;
}

static bool is_in_use(const struct rp_ft_entry *entry)
{
    return entry->under_way || entry->request || is_unread(entry);
}

/* The channel whose oldest entry of the loop is in the way: any will do, the largest share comes up
 * most often. */
void rp_ft_log_cap(void)
{
    static int next;

    for (int tried = 0; rp_ft_log_bytes > rp_ft_log_capacity && tried < rp_ft.ranks;
         tried++, next = (next + 1) % rp_ft.ranks) {
        struct rp_ft_channel *channel = &rp_ft_channels[next];
        struct rp_ft_entry *first = channel->log.first;
        if (first && !is_in_use(first) && first != channel->log.last) {
            rp_ft_log_release(&channel->log, first->wire.seq + 1);
            tried = -1;
        }
    }
}

void rp_ft_log_begin(long iteration)
{
    current = iteration;
    for (int i = 0; i < rp_ft.ranks && rp_ft_log_span; i++) {
        struct rp_ft_log *log = &rp_ft_channels[i].log;
        while (log->first && iteration - log->first->iteration >= rp_ft_log_span &&
               !is_in_use(log->first))
            rp_ft_log_release(log, log->first->wire.seq + 1);
    }
}

void rp_ft_log_uncap(void)
{
    rp_ft_log_capacity = 0;
    rp_ft_log_span = 0;
}

bool rp_ft_log_is_capped(void)
{
    return rp_ft_log_capacity || rp_ft_log_span;
}
