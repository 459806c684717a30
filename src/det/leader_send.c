/* SPDX-License-Identifier: MIT */
/* The outbox, and frames (the paper's Answer): leader.c says what a frame is for. */
#include "det/leader_send.h"

#include <string.h>

#include "det/leader_state.h"
#include "det/shared_collectives.h"
#include "det/shared_messages.h"

/* The outbox */

/* Before what refers to them. */
static void send_sites(uint32_t host, uint32_t rank)
{
    size_t length;
    const uint8_t *bytes = rp_shared_sites_of(rank, &length);
    uint64_t *sent = &rp_leader.sites[(size_t)host * rp_shared.ranks + rank];
    struct rp_leader_peer *peer = &rp_leader.peers[host];

    if (*sent == length)
        return;
    size_t begin = rp_leader_open_message(peer);
    rp_buffer_u64(&peer->out, rank);
    rp_buffer_put(&peer->out, bytes + *sent, length - (size_t)*sent);
    rp_leader_close_message(peer, RP_LEADER_SITES, begin);
    *sent = length;
}

static void send_message(struct rp_shared_message *message)
{
    uint32_t host = rp_shared.host_of[message->dest];
    struct rp_leader_peer *peer = &rp_leader.peers[host];
    uint64_t words[] = {message->stamp,
                        message->comm,
                        (uint32_t)message->tag | (uint64_t)(uint32_t)message->from << 32,
                        message->source | (uint64_t)message->dest << 32,
                        message->is_synchronous ? rp_shared_offset(message) : 0,
                        message->site};

    send_sites(host, message->source);
    rp_leader_say(peer, RP_LEADER_MESSAGE, words, sizeof words / sizeof *words);
    if (!message->is_synchronous)
        rp_shared_message_return(message);
}

static void send_matched(struct rp_shared_message *item)
{
    uint64_t words[] = {item->dest, item->home, atomic_load(&item->matched), item->stamp};

    rp_leader_say(&rp_leader.peers[rp_shared.host_of[item->dest]], RP_LEADER_MATCHED, words,
                  sizeof words / sizeof *words);
    rp_shared_message_return(item);
}

static void send_arrival(struct rp_shared_message *item)
{
    struct rp_shared_collective *collective = rp_shared_collective_at(item->home);

    for (uint32_t h = 0; h < rp_shared.hosts; h++) {
        if (h == rp_shared.host)
            continue;
        struct rp_leader_peer *peer = &rp_leader.peers[h];
        send_sites(h, item->source);
        size_t begin = rp_leader_open_message(peer);
        rp_buffer_put(&peer->out,
                      (uint64_t[]){collective->comm, collective->number,
                                   item->source | (uint64_t)collective->size << 32, item->stamp},
                      32);
        rp_buffer_put(&peer->out,
                      (uint64_t[]){item->comm,
                                   (uint32_t)item->tag | (uint64_t)(uint32_t)item->from << 32,
                                   item->site},
                      24);
        for (size_t i = 0; i < rp_shared_words(); i++)
            rp_buffer_u64(&peer->out, atomic_load(&collective->bits[i]));
        rp_leader_close_message(peer, RP_LEADER_ARRIVAL, begin);
    }
    rp_shared_collective_forwarded(collective);
    rp_shared_message_return(item);
}

static void empty_outbox(void)
{
    uint64_t at = rp_shared_oldest_first(atomic_exchange(&rp_shared_common()->outbox, 0));

    while (at != 0) {
        struct rp_shared_message *item = rp_shared_message_at(at);
        at = item->next;
        if (item->kind == RP_SHARED_ITEM_MESSAGE)
            send_message(item);
        else if (item->kind == RP_SHARED_ITEM_MATCHED)
            send_matched(item);
        else
            send_arrival(item);
    }
}

/* Frames */

/* Only right if it is found unchanged after that. */
static void read_names(uint32_t rank, const struct rp_shared_look *look,
                       struct rp_leader_rank *state)
{
    memcpy(state->what, rp_shared.all[rank].what, sizeof state->what);
    if (look->wait == RP_WAIT_COLLECTIVE || look->wait == RP_WAIT_INSIDE_MPI) {
        state->comm = rp_shared_collective_at(look->object)->comm;
        state->number = rp_shared_collective_at(look->object)->number;
    }
}

static bool look_again(uint32_t rank, struct rp_leader_rank *state)
{
    struct rp_shared_look *look = &rp_leader.looks[rank];

    if (!look->waits || look->may_go_on)
        return false;
    read_names(rank, look, state);
    if (!rp_shared_look_again(rank, look, state->relied))
        return false;
    state->wait = look->wait;
    state->target = look->target;
    state->candidate = look->candidate;
    state->fresh = look->fresh;
    state->awaits_collectives = look->awaits_collectives;
    return true;
}

static void find_state(uint32_t rank, struct rp_leader_rank *state)
{
    memset(state, 0, rp_leader_rank_size());
    if (!look_again(rank, state)) {
        memset(state, 0, rp_leader_rank_size());
        state->wait = RP_WAIT_NONE;
        state->is_idle = atomic_load(&rp_shared.all[rank].is_idle);
    }
    state->clock = rp_leader.looks[rank].clock;
}

static void keep(uint32_t rank, const struct rp_leader_rank *found)
{
    if (memcmp(rp_leader_rank(rank), found, rp_leader_rank_size()) == 0)
        return;
    memcpy(rp_leader_rank(rank), found, rp_leader_rank_size());
    rp_leader.changed[rank].state = ++rp_leader.changes;
}

static void look_at_ranks(void)
{
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (!rp_shared_is_remote(i))
            rp_shared_look(i, &rp_leader.looks[i]);
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (!rp_shared_is_remote(i)) {
            find_state(i, rp_leader.found);
            keep(i, rp_leader.found);
        }
    atomic_thread_fence(memory_order_seq_cst);
}

static void count_sent(void)
{
    uint64_t arrivals = atomic_load(&rp_shared_common()->arrivals);

    rp_leader.changes += arrivals != rp_leader.arrivals[rp_shared.host];
    rp_leader.arrivals[rp_shared.host] = arrivals;
    for (uint32_t i = 0; i < rp_shared.ranks; i++) {
        uint64_t count = rp_shared_is_remote(i) ? atomic_load(rp_shared_sent(i)) : 0;
        if (count == *rp_leader_sent_by(rp_shared.host, i))
            continue;
        *rp_leader_sent_by(rp_shared.host, i) = count;
        rp_leader.changed[i].sent = ++rp_leader.changes;
    }
}

/* A part of a frame: entries until one that says RP_LEADER_END. */

static void put_states(struct rp_leader_peer *peer)
{
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (rp_leader.changed[i].state > peer->last_sent) {
            rp_buffer_u64(&peer->out, i);
            rp_buffer_put(&peer->out, rp_leader_rank(i), rp_leader_rank_size());
        }
    rp_buffer_u64(&peer->out, RP_LEADER_END);
}

static void put_sent(struct rp_leader_peer *peer)
{
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (rp_leader.changed[i].sent > peer->last_sent) {
            rp_buffer_u64(&peer->out, i);
            rp_buffer_u64(&peer->out, *rp_leader_sent_by(rp_shared.host, i));
        }
    rp_buffer_u64(&peer->out, RP_LEADER_END);
}

static void put_received(struct rp_leader_peer *peer)
{
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        for (uint32_t h = 0; h < rp_shared.hosts && !rp_shared_is_remote(i); h++)
            if (rp_leader.received_changed[rp_leader_from_host(i, h)] > peer->last_sent) {
                rp_buffer_u64(&peer->out, i | (uint64_t)h << 32);
                rp_buffer_u64(&peer->out, rp_leader.received[rp_leader_from_host(i, h)]);
            }
    rp_buffer_u64(&peer->out, RP_LEADER_END);
}

static void put_arrivals(struct rp_leader_peer *peer)
{
    rp_buffer_u64(&peer->out, rp_leader.arrivals[rp_shared.host]);
    for (uint32_t h = 0; h < rp_shared.hosts; h++)
        rp_buffer_u64(&peer->out, *rp_leader_arrivals_known(rp_shared.host, h));
}

static void send_frame(struct rp_leader_peer *peer)
{
    size_t begin = rp_leader_open_message(peer);

    put_states(peer);
    put_sent(peer);
    put_received(peer);
    put_arrivals(peer);
    rp_leader_close_message(peer, RP_LEADER_FRAME, begin);
    peer->last_sent = rp_leader.changes;
    peer->wants = false;
}

bool rp_leader_is_wanted(void)
{
    for (uint32_t h = 0; h < rp_shared.hosts; h++)
        if (rp_leader.peers[h].wants && rp_leader.peers[h].fd >= 0)
            return true;
    return false;
}

/* In this order. */
void rp_leader_send_all(void)
{
    bool is_wanted = rp_leader_is_wanted();
    uint64_t before = rp_leader.changes;

    if (is_wanted)
        look_at_ranks();
    empty_outbox();
    if (!is_wanted)
        return;
    count_sent();
    for (uint32_t h = 0; h < rp_shared.hosts; h++)
        if (rp_leader.peers[h].wants && rp_leader.changes > rp_leader.peers[h].last_sent)
            send_frame(&rp_leader.peers[h]);
    rp_leader.pause = rp_leader.changes > before                      ? RP_LEADER_SHORTEST_PAUSE
                      : rp_leader.pause * 2 > RP_LEADER_LONGEST_PAUSE ? RP_LEADER_LONGEST_PAUSE
                                                                      : rp_leader.pause * 2;
}
