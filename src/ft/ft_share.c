/* SPDX-License-Identifier: MIT */
/*
 * Payloads between processes of one host do not travel: the receiver reads them where the sender
 * logged them. So the copy into the log, which is there anyway, takes the place of one that MPI
 * would make.
 *
 * Whether a receiver can do so does not follow from names of hosts: it is tried. With the first
 * payload the sender offers its log (process, descriptor, and a number that its first bytes hold).
 * A receiver that can open it, and finds the number there, accepts, and keeps it open: so it can
 * also read what a sender had sent that died since. Until it accepts, payloads travel. Each world
 * begins anew.
 *
 * A receiver that cannot map what it once accepted, for lack of memory, declines: that payload is
 * sent to it, and all later ones.
 *
 * The sender's entry stays until it is taken. When a world breaks, what was not taken is asked for
 * again, as payloads that were under way are.
 */
#include "ft/ft_share.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/arena.h"
#include "ft/ft_abort.h"
#include "ft/ft_channels.h"
#include "ft/ft_state.h"
#include "ft/ft_transport.h"

enum { SEGMENT = 16 * RP_ARENA_BLOCK };

enum state { UNKNOWN, OFFERED, NEAR, FAR };

/* The log of another rank. */
struct view {
    bool is_open;
    struct rp_reopen file;
    char path[64];
    size_t segments;
    uint8_t **segment;
};

static struct {
    bool is_readable; /* our log */
    uint64_t number;  /* that it begins with */
    enum state *of;   /* each rank, as a reader of ours */
    struct view *views;
} share;

static void close_view(struct view *view)
{
    for (size_t i = 0; i < view->segments; i++)
        if (view->segment[i])
            munmap(view->segment[i], SEGMENT);
    free(view->segment);
    if (view->is_open)
        rp_reopen_close(&view->file);
    *view = (struct view){.is_open = false};
}

void rp_ft_share_begin_world(void)
{
    for (int i = 0; i < rp_ft.ranks; i++) {
        share.of[i] = UNKNOWN;
        close_view(&share.views[i]);
        rp_ft_log_unshare(&rp_ft_channels[i].log);
    }
}

/* What travels can be dropped as soon as it has left, and long messages then wait for their
 * receiver: so a full log does not grow further by messages that nobody reads. */
static bool has_room(void)
{
    return !rp_ft_capacity.bytes || rp_ft_log_bytes() <= rp_ft_capacity.bytes;
}

bool rp_ft_share_with(int to, const struct rp_ft_entry *entry)
{
    return entry->envelope.bytes >= RP_FT_SHARED_FROM && entry->stored == entry->envelope.bytes &&
           share.of[to] == NEAR && has_room() && rp_ft_log_place(entry) != RP_ARENA_NOWHERE;
}

void rp_ft_share_offer(int to)
{
    if (share.of[to] != UNKNOWN || !share.is_readable)
        return;
    int file = rp_ft_log_file();
    share.of[to] = file >= 0 ? OFFERED : FAR;
    if (file >= 0)
        rp_ft_control_with((struct rp_ft_envelope){.kind = RP_FT_OFFER,
                                                   .seq = share.number,
                                                   .context = (int32_t)getpid(),
                                                   .source = file},
                           to);
}

static void accepted(const struct rp_ft_envelope *by, const void *payload)
{
    (void)payload;
    if (share.of[by->from] == OFFERED)
        share.of[by->from] = NEAR;
}

void rp_ft_share_end(int by)
{
    share.of[by] = FAR;
}

/* Memory beyond the file's end may be mapped, and is there when the file has grown. */
static uint8_t *map_segment(struct view *view, size_t index)
{
    if (index >= view->segments) {
        size_t room = 2 * index + 4;
        uint8_t **more = realloc(view->segment, room * sizeof *more);
        if (!more)
            return NULL;
        for (size_t i = view->segments; i < room; i++)
            more[i] = NULL;
        view->segment = more;
        view->segments = room;
    }
    if (!view->segment[index]) {
        int file = rp_reopen_fd(&view->file);
        void *memory = file >= 0 ? mmap(NULL, SEGMENT, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                                        (off_t)index * SEGMENT)
                                 : MAP_FAILED;
        if (memory == MAP_FAILED)
            return NULL;
        view->segment[index] = memory;
    }
    return view->segment[index];
}

static bool has_number(struct view *view, uint64_t number)
{
    const uint8_t *first =
        lseek(view->file.fd, 0, SEEK_END) >= RP_ARENA_BLOCK ? map_segment(view, 0) : NULL;

    return first && *(const uint64_t *)(const void *)first == number;
}

static void offered(const struct rp_ft_envelope *offer, const void *payload)
{
    struct view *view = &share.views[offer->from];

    (void)payload;
    snprintf(view->path, sizeof view->path, "/proc/%ld/fd/%ld", (long)offer->context,
             (long)offer->source);
    view->is_open = rp_reopen_open(&view->file, view->path, O_RDWR | O_NOCTTY | O_NONBLOCK) == 0;
    if (view->is_open && has_number(view, offer->seq))
        rp_ft_control(RP_FT_ACCEPT, offer->from, 0, NULL, 0);
    else
        close_view(view);
}

const void *rp_ft_share_find(const struct rp_ft_envelope *envelope)
{
    struct view *view = &share.views[envelope->from];
    uint8_t *segment = view->is_open ? map_segment(view, envelope->place / SEGMENT) : NULL;

    if (!segment) {
        rp_ft_control_with((struct rp_ft_envelope){.kind = RP_FT_DECLINE,
                                                   .seq = envelope->seq,
                                                   .flags = envelope->flags & RP_FT_SETUP},
                           envelope->from);
        return NULL;
    }
    atomic_thread_fence(memory_order_acquire);
    return segment + envelope->place % SEGMENT;
}

/* Entries stand before their payloads. */
void rp_ft_share_take(const void *payload)
{
    struct rp_ft_entry *entry = (struct rp_ft_entry *)(uintptr_t)payload - 1;

    atomic_store_explicit(&entry->taken, true, memory_order_release);
}

void rp_ft_share_start(void)
{
    int file = rp_ft_log_file();

    rp_ft_transport_handle(RP_FT_OFFER, offered);
    rp_ft_transport_handle(RP_FT_ACCEPT, accepted);
    share.of = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *share.of);
    share.views = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *share.views);
    if (file < 0 ||
        getrandom(&share.number, sizeof share.number, 0) != (ssize_t)sizeof share.number)
        return;
    uint64_t *first = mmap(NULL, RP_ARENA_BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (first == MAP_FAILED)
        return;
    *first = share.number;
    munmap(first, RP_ARENA_BLOCK);
    share.is_readable = true;
}
