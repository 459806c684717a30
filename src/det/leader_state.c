/* SPDX-License-Identifier: MIT */
/* The leader's arrays, and its side of a connection: messages are appended to a buffer of each
 * peer, and flushed as the socket takes them. */
#include "det/leader_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "match/send_bounds.h"
#include "reprise.h"

struct rp_leader rp_leader;

void rp_leader_give_up(const char *what)
{
    rp_error("%s", what);
    _exit(REPRISE_EXIT_INTERNAL);
}

uint64_t *rp_leader_sent_by(uint32_t host, uint32_t rank)
{
    return &rp_leader.sent[(size_t)host * rp_shared.ranks + rank];
}

size_t rp_leader_from_host(uint32_t rank, uint32_t host)
{
    return (size_t)rank * rp_shared.hosts + host;
}

uint64_t *rp_leader_arrivals_known(uint32_t by, uint32_t host)
{
    return &rp_leader.arrivals_known[(size_t)by * rp_shared.hosts + host];
}

size_t rp_leader_rank_size(void)
{
    return sizeof(struct rp_leader_rank) + rp_shared_words() * sizeof(uint64_t);
}

struct rp_leader_rank *rp_leader_rank(uint32_t rank)
{
    return (struct rp_leader_rank *)(void *)(rp_leader.states + rank * rp_leader_rank_size());
}

bool rp_leader_make_room(void)
{
    size_t ranks = rp_shared.ranks, hosts = rp_shared.hosts;

    rp_leader.peers = calloc(hosts, sizeof *rp_leader.peers);
    rp_leader.polled = calloc(hosts + 1, sizeof *rp_leader.polled);
    rp_leader.states = calloc(ranks, rp_leader_rank_size());
    rp_leader.found = calloc(1, rp_leader_rank_size());
    rp_leader.looks = calloc(ranks, sizeof *rp_leader.looks);
    rp_leader.changed = calloc(ranks, sizeof *rp_leader.changed);
    rp_leader.sent = calloc(ranks * hosts, sizeof *rp_leader.sent);
    rp_leader.received = calloc(ranks * hosts, sizeof *rp_leader.received);
    rp_leader.received_changed = calloc(ranks * hosts, sizeof *rp_leader.received_changed);
    rp_leader.arrivals = calloc(hosts, sizeof *rp_leader.arrivals);
    rp_leader.arrivals_known = calloc(hosts * hosts, sizeof *rp_leader.arrivals_known);
    rp_leader.sites = calloc(hosts * ranks, sizeof *rp_leader.sites);
    rp_leader.messages = calloc(ranks, sizeof *rp_leader.messages);
    return rp_leader.peers && rp_leader.polled && rp_leader.states && rp_leader.found &&
           rp_leader.looks && rp_leader.changed && rp_leader.sent && rp_leader.received &&
           rp_leader.received_changed && rp_leader.arrivals && rp_leader.arrivals_known &&
           rp_leader.sites && rp_leader.messages;
}

/* Speaking */

size_t rp_leader_open_message(struct rp_leader_peer *peer)
{
    rp_buffer_u64(&peer->out, 0);
    return peer->out.length;
}

void rp_leader_close_message(struct rp_leader_peer *peer, enum rp_leader_message kind, size_t begin)
{
    if (peer->out.failed)
        rp_leader_give_up("out of memory for other hosts");
    uint64_t head = (uint64_t)kind | (uint64_t)(peer->out.length - begin) << 8;
    memcpy(peer->out.bytes + begin - RP_LEADER_HEAD, &head, RP_LEADER_HEAD);
}

void rp_leader_say(struct rp_leader_peer *peer, enum rp_leader_message kind, const uint64_t *words,
                   size_t count)
{
    size_t begin = rp_leader_open_message(peer);

    rp_buffer_put(&peer->out, words, count * sizeof *words);
    rp_leader_close_message(peer, kind, begin);
}

static bool all_have_finished(void)
{
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (!rp_shared_is_remote(i) && rp_shared_clock_of(i) != RP_SEND_NEVER)
            return false;
    return true;
}

/* Its ranks have died, and the launcher may be about to end ours: then its reasons are better than
 * ours. */
void rp_leader_lose(struct rp_leader_peer *peer)
{
    struct timespec pause = {0, 10000000};

    close(peer->fd);
    peer->fd = -1;
    for (int i = 0; i < 300 && !all_have_finished() && !atomic_load(&rp_leader.stops); i++)
        nanosleep(&pause, NULL);
    if (all_have_finished() || atomic_load(&rp_leader.stops))
        return;
    rp_error("the connection to host %u of the job broke: its ranks have ended, or the network "
             "failed; the run cannot go on",
             (uint32_t)(peer - rp_leader.peers));
    atomic_store(&rp_shared_common()->is_cut_off, 1);
    _exit(REPRISE_EXIT_INTERNAL);
}

void rp_leader_flush(struct rp_leader_peer *peer)
{
    while (peer->fd >= 0 && peer->sent < peer->out.length) {
        ssize_t part = send(peer->fd, peer->out.bytes + peer->sent, peer->out.length - peer->sent,
                            MSG_NOSIGNAL | MSG_DONTWAIT);
        if (part < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (part <= 0)
            rp_leader_lose(peer);
        else
            peer->sent += (size_t)part;
    }
    peer->sent = 0;
    rp_buffer_clear(&peer->out);
}
