/* SPDX-License-Identifier: MIT */
/*
 * The log of what was sent. Each channel has a list of entries; their memory is taken from arenas
 * (base/arena.h) in the order of sending.
 *
 * Entries of the setup are kept for ever: a process that takes over a rank runs through its setup
 * again.
 */
#include "ft/ft_log.h"

#include <string.h>

#include "base/arena.h"
#include "ft/ft_abort.h"
#include "ft/ft_state.h"
#include "ft/ft_types.h"

static struct {
    struct rp_arenas arenas;
    size_t bytes, peak;
    long iteration; /* that what is sent belongs to */
} logs;

void rp_ft_log_start(void)
{
    rp_arenas_share(&logs.arenas);
}

int rp_ft_log_file(void)
{
    return rp_arenas_file(&logs.arenas);
}

uint64_t rp_ft_log_place(const struct rp_ft_entry *entry)
{
    return rp_arena_place(entry->arena, entry + 1);
}

void *rp_ft_entry_payload(struct rp_ft_entry *entry)
{
    return entry + 1;
}

static size_t footprint(size_t bytes)
{
    return (sizeof(struct rp_ft_entry) + bytes + RP_FT_ALIGN - 1) / RP_FT_ALIGN * RP_FT_ALIGN;
}

static void forget(struct rp_ft_entry *entry)
{
    logs.bytes -= footprint(entry->stored);
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
    struct rp_ft_entry *entry = rp_arena_take(&logs.arenas, all, &arena);

    if (!entry)
        rp_ft_die(125,
                  "%s: out of memory for the log, which has %zu bytes now; set a capacity "
                  "(--capacity, --capacity-iterations) or checkpoint more often (--interval)",
                  rp_ft.call, logs.bytes);
    memset(entry, 0, sizeof *entry);
    entry->arena = arena;
    entry->stored = stored;
    entry->iteration = logs.iteration;
    if (again)
        link(&log->setup_first, &log->setup_last, entry);
    else
        link(&log->first, &log->last, entry);
    logs.bytes += all;
    if (logs.bytes > logs.peak)
        logs.peak = logs.bytes;
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
        log->first_seq = log->setup_last->envelope.seq + 1;
}

static bool is_unread(const struct rp_ft_entry *entry)
{
    return entry->envelope.flags & RP_FT_SHARED && !entry->taken;
}

void rp_ft_log_unshare(struct rp_ft_log *log)
{
    struct rp_ft_entry *lists[] = {log->setup_first, log->first};

    for (int i = 0; i < 2; i++)
        for (struct rp_ft_entry *entry = lists[i]; entry; entry = entry->next)
            entry->envelope.flags &= ~(uint32_t)RP_FT_SHARED;
}

void rp_ft_log_release(struct rp_ft_log *log, uint64_t before)
{
    while (log->first && log->first->envelope.seq < before && !log->first->under_way &&
           !is_unread(log->first)) {
        struct rp_ft_entry *entry = log->first;
        log->first = entry->next;
        log->first_seq = entry->envelope.seq + 1;
        if (!log->first)
            log->last = NULL;
        forget(entry);
    }
    if (!log->first && log->first_seq < before)
        log->first_seq = before;
}

bool rp_ft_entry_is_in_use(const struct rp_ft_entry *entry)
{
    return entry->under_way || entry->request || is_unread(entry);
}

void rp_ft_log_begin(long iteration)
{
    logs.iteration = iteration;
}

size_t rp_ft_log_bytes(void)
{
    return logs.bytes;
}

size_t rp_ft_log_peak(void)
{
    return logs.peak;
}
