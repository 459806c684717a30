/* SPDX-License-Identifier: MIT */
/* Messages of other hosts: leader.c says what they are for. Each is checked before it is believed.
 */
#include "det/leader_receive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "det/shared_collectives.h"
#include "det/shared_messages.h"

static struct rp_shared_message *new_message(uint32_t source)
{
    uint64_t end, place = rp_leader.messages[source].spare;

    if (place == 0)
        place = atomic_exchange(&rp_shared.all[source].returned, 0);
    if (place != 0) {
        rp_leader.messages[source].spare = rp_shared_message_at(place)->next;
    } else {
        uint64_t begin = rp_shared_messages_room(source, &end);
        place = rp_leader.messages[source].end == 0 ? begin : rp_leader.messages[source].end;
        rp_leader.messages[source].end = place + sizeof(struct rp_shared_message);
        if (rp_leader.messages[source].end > end)
            rp_leader_give_up(
                "too many messages from another host are under way that were not received");
    }
    struct rp_shared_message *message = rp_shared_message_at(place);
    memset(message, 0, sizeof *message);
    return message;
}

static void count_received(uint32_t rank, uint32_t host)
{
    rp_leader.received[rp_leader_from_host(rank, host)]++;
    rp_leader.received_changed[rp_leader_from_host(rank, host)] = ++rp_leader.changes;
}

static bool receive_message(uint32_t host, struct rp_view *view)
{
    uint64_t stamp = rp_view_u64(view), comm = rp_view_u64(view), tag_from = rp_view_u64(view),
             ranks = rp_view_u64(view), home = rp_view_u64(view), site = rp_view_u64(view);
    uint32_t source = (uint32_t)ranks, dest = (uint32_t)(ranks >> 32);

    if (view->failed || source >= rp_shared.ranks || dest >= rp_shared.ranks ||
        rp_shared.host_of[source] != host || rp_shared_is_remote(dest))
        return false;
    struct rp_shared_message *message = new_message(source);
    message->stamp = stamp;
    message->comm = comm;
    message->tag = (int32_t)(uint32_t)tag_from;
    message->from = (int32_t)(uint32_t)(tag_from >> 32);
    message->source = source;
    message->dest = dest;
    message->is_synchronous = home != 0;
    message->is_copy = 1;
    message->home = home;
    message->site = (uint32_t)site;
    rp_shared_inbox_put(dest, message);
    count_received(dest, host);
    return true;
}

static bool receive_matched(uint32_t host, struct rp_view *view)
{
    uint64_t rank = rp_view_u64(view), home = rp_view_u64(view), matched = rp_view_u64(view),
             at = rp_view_u64(view), end;

    if (view->failed || rank >= rp_shared.ranks || rp_shared_is_remote((uint32_t)rank) ||
        matched > RP_MATCHED)
        return false;
    uint64_t begin = rp_shared_messages_room((uint32_t)rank, &end);
    if (home < begin || home > end - sizeof(struct rp_shared_message) ||
        (home - begin) % sizeof(struct rp_shared_message) != 0)
        return false;
    rp_shared_notify_sender(rp_shared_message_at(home), (enum rp_shared_matched)matched, at);
    count_received((uint32_t)rank, host);
    return true;
}

static bool receive_arrival(uint32_t host, struct rp_view *view)
{
    uint64_t comm = rp_view_u64(view), number = rp_view_u64(view), rank_size = rp_view_u64(view),
             clock = rp_view_u64(view);
    uint64_t function_root = rp_view_u64(view), op_said = rp_view_u64(view),
             site = rp_view_u64(view);
    uint32_t rank = (uint32_t)rank_size;
    struct rp_shared_call call = {(uint32_t)function_root,
                                  (uint32_t)op_said,
                                  (uint32_t)(function_root >> 32),
                                  (int32_t)(uint32_t)(op_said >> 32),
                                  rank,
                                  (uint32_t)site};
    size_t words = rp_shared_words();

    if (view->failed || rank >= rp_shared.ranks || rp_shared.host_of[rank] != host ||
        (size_t)(view->end - view->at) != words * sizeof(uint64_t))
        return false;
    uint64_t *members = malloc(words * sizeof *members);
    if (!members)
        rp_leader_give_up("out of memory for other hosts");
    memcpy(members, view->at, words * sizeof *members);
    rp_shared_collective_arrive_remote(comm, number, members, (uint32_t)(rank_size >> 32), &call,
                                       clock);
    ++*rp_leader_arrivals_known(rp_shared.host, host);
    rp_leader.changes++;
    free(members);
    return true;
}

static bool receive_sites(uint32_t host, struct rp_view *view)
{
    uint64_t rank = rp_view_u64(view);

    if (view->failed || rank >= rp_shared.ranks || rp_shared.host_of[rank] != host)
        return false;
    return rp_shared_add_sites((uint32_t)rank, view->at, (size_t)(view->end - view->at));
}

/* For those who look at the state itself. */
static void publish_rank(uint32_t rank, const struct rp_leader_rank *state)
{
    struct rp_shared_rank *r = &rp_shared.all[rank];
    uint64_t version = atomic_load(&r->version);

    if (version % 2 == 0)
        atomic_store(&r->version, ++version);
    atomic_store(&r->is_idle, (uint32_t)state->is_idle);
    if (state->wait == RP_WAIT_NONE)
        return;
    atomic_store(&r->wait, (uint32_t)state->wait);
    atomic_store(&r->target, (uint32_t)state->target);
    atomic_store(&r->candidate, state->candidate);
    memcpy(r->what, state->what, sizeof r->what);
    atomic_store(&r->version, version + 1);
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static bool has_received_all(uint32_t rank)
{
    for (uint32_t h = 0; h < rp_shared.hosts; h++)
        if (h != rp_shared.host && h != rp_shared.host_of[rank] &&
            rp_leader.received[rp_leader_from_host(rank, h)] < *rp_leader_sent_by(h, rank))
            return false;
    return true;
}

static bool knows_all_arrivals(uint32_t by)
{
    for (uint32_t h = 0; h < rp_shared.hosts; h++)
        if (h != rp_shared.host && h != by &&
            *rp_leader_arrivals_known(by, h) < rp_leader.arrivals[h])
            return false;
    return true;
}

static void write_copy(uint32_t rank)
{
    struct rp_shared_copy *m = rp_shared_copy(rank);
    const struct rp_leader_rank *state = rp_leader_rank(rank);

    set(&m->clock, state->clock);
    set(&m->wait, state->wait);
    set(&m->target, state->target);
    set(&m->candidate, state->candidate);
    set(&m->comm, state->comm);
    set(&m->number, state->number);
    set(&m->fresh, state->fresh);
    set(&m->awaits_collectives, state->awaits_collectives);
    for (size_t i = 0; i < rp_shared_words(); i++)
        set(&m->relied[i], state->relied[i]);
    set(&m->received, rp_leader.received[rp_leader_from_host(rank, rp_shared.host)]);
    set(&m->arrivals_known, *rp_leader_arrivals_known(rp_shared.host_of[rank], rp_shared.host));
    set(&m->is_believed, has_received_all(rank));
    set(&m->knows_arrivals, knows_all_arrivals(rp_shared.host_of[rank]));
}

static bool read_states(uint32_t host, struct rp_view *view)
{
    for (uint64_t rank = rp_view_u64(view); rank != RP_LEADER_END; rank = rp_view_u64(view)) {
        if (view->failed || rank >= rp_shared.ranks || rp_shared.host_of[rank] != host ||
            (size_t)(view->end - view->at) < rp_leader_rank_size())
            return false;
        memcpy(rp_leader_rank((uint32_t)rank), view->at, rp_leader_rank_size());
        view->at += rp_leader_rank_size();
        if (rp_leader_rank((uint32_t)rank)->target >= rp_shared.ranks)
            return false;
    }
    return true;
}

static bool read_counts(uint32_t host, struct rp_view *view)
{
    for (uint64_t rank = rp_view_u64(view); rank != RP_LEADER_END; rank = rp_view_u64(view)) {
        if (view->failed || rank >= rp_shared.ranks)
            return false;
        *rp_leader_sent_by(host, (uint32_t)rank) = rp_view_u64(view);
    }
    for (uint64_t which = rp_view_u64(view); which != RP_LEADER_END; which = rp_view_u64(view)) {
        uint32_t rank = (uint32_t)which, from = (uint32_t)(which >> 32);
        if (view->failed || rank >= rp_shared.ranks || from >= rp_shared.hosts ||
            rp_shared.host_of[rank] != host)
            return false;
        rp_leader.received[rp_leader_from_host(rank, from)] = rp_view_u64(view);
    }
    rp_leader.arrivals[host] = rp_view_u64(view);
    for (uint32_t h = 0; h < rp_shared.hosts; h++)
        *rp_leader_arrivals_known(host, h) = rp_view_u64(view);
    return !view->failed;
}

static void write_copies(void)
{
    _Atomic uint64_t *copied = &rp_shared_common()->copied;

    atomic_fetch_add(copied, 1);
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (rp_shared_is_remote(i))
            write_copy(i);
    atomic_fetch_add(copied, 1);
}

/*
 * The published states change before the copies: a rank that has seen the copies must not find that
 * a rank receives nothing which did before, and does not any more. Of a state the clock comes last,
 * for the same reason. For a while the states are newer than the copies. That does no harm: what
 * was sent before they changed has arrived before.
 */
static bool receive_frame(uint32_t host, struct rp_view *view)
{
    bool is_good = read_states(host, view) && read_counts(host, view);

    for (uint32_t i = 0; i < rp_shared.ranks && is_good; i++)
        if (rp_shared.host_of[i] == host) {
            publish_rank(i, rp_leader_rank(i));
            atomic_store_explicit(&rp_shared_clock_page(i)[1], rp_leader_rank(i)->clock,
                                  memory_order_release);
        }
    write_copies();
    rp_leader.peers[host].is_asked = false;
    return is_good;
}

static void receive_ask(uint32_t host)
{
    uint64_t answer =
        atomic_exchange(&rp_shared_common()->reported, 1) == 0 ? RP_LEADER_MAY : RP_LEADER_MAY_NOT;

    rp_leader_say(&rp_leader.peers[host], RP_LEADER_ANSWER, &answer, 1);
}

static bool handle_message(uint32_t host, enum rp_leader_message kind, struct rp_view view)
{
    switch (kind) {
    case RP_LEADER_MESSAGE:
        return receive_message(host, &view);
    case RP_LEADER_MATCHED:
        return receive_matched(host, &view);
    case RP_LEADER_ARRIVAL:
        return receive_arrival(host, &view);
    case RP_LEADER_SITES:
        return receive_sites(host, &view);
    case RP_LEADER_FRAME:
        return receive_frame(host, &view);
    case RP_LEADER_REQUEST:
        rp_leader.peers[host].wants = true;
        rp_leader.pause = RP_LEADER_SHORTEST_PAUSE;
        return true;
    case RP_LEADER_ASK:
        receive_ask(host);
        return true;
    case RP_LEADER_ANSWER:
        atomic_store(&rp_shared_common()->answer, (uint32_t)rp_view_u64(&view));
        return !view.failed;
    default:
        return false;
    }
}

static void receive_all(struct rp_leader_peer *peer)
{
    while (peer->in.length - peer->read >= RP_LEADER_HEAD) {
        uint64_t head = rp_load_u64(peer->in.bytes + peer->read);
        size_t length = (size_t)(head >> 8);
        if (peer->in.length - peer->read - RP_LEADER_HEAD < length)
            break;
        if (!handle_message((uint32_t)(peer - rp_leader.peers),
                            (enum rp_leader_message)(head & 255),
                            rp_view_of(peer->in.bytes + peer->read + RP_LEADER_HEAD, length)))
            rp_leader_give_up("another host of the job says what makes no sense");
        peer->read += RP_LEADER_HEAD + length;
    }
    memmove(peer->in.bytes, peer->in.bytes + peer->read, peer->in.length - peer->read);
    peer->in.length -= peer->read;
    peer->read = 0;
}

void rp_leader_listen(struct rp_leader_peer *peer)
{
    enum { PART = 65536 };

    if (!rp_buffer_reserve(&peer->in, PART))
        rp_leader_give_up("out of memory for other hosts");
    ssize_t part = recv(peer->fd, peer->in.bytes + peer->in.length, PART, MSG_DONTWAIT);
    if (part < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (part <= 0) {
        rp_leader_lose(peer);
        return;
    }
    peer->in.length += (size_t)part;
    receive_all(peer);
}
