/* SPDX-License-Identifier: MIT */
/*
 * The leader of a host: it sends what is in the outbox to the hosts that it is for, puts what comes
 * from others into the inboxes here, and tells others how its ranks are.
 *
 * A host tells how its ranks are by frames. It looks at all its ranks twice, as rp_shared_bounds
 * does: so what it finds of those that wait held at a moment M, and no clock of those that run was
 * later than what it read. Only then it empties the outbox, then it reads how much was sent from
 * here to each rank elsewhere; and sends all that, in this order. So whoever has a frame also has
 * what was sent to it and who has come to meetings before M. With a rank that waits goes how much
 * it had received from each host.
 *
 * Frames of different hosts are of different moments. That a rank waits is believed if it had
 * received at least as much from each host as the latest frame of that host says was sent. Why is
 * that enough? Let some rank do something earlier, by its logical time, than its bound; of all such
 * acts take one that no other caused. The rank did not run at its moment M, since then its clock
 * was its bound. So something came to it after M:
 *
 * - A message was not among those counted, so it was sent after its sender's M, no earlier than the
 * bound of its sender, and the bound of the rank holds.
 * - That a message of its own was taken counts as a message to it. The receive that took it was
 * posted after the receiver's M, or was under way then. In the second case the receiver had looked
 * at the message, and said so, which is counted; or had not. Then the message counts as one that
 * may have been taken at its time, unless the receiver was deaf at its M. The leader, who sees the
 * message, must not decide that: what it knows of the receiver may be of an earlier moment. So it
 * tells whom it took for deaf.
 * - Who is missing at a meeting is taken from the copy of the meeting where the bounds are found:
 * who is missing there comes after its own M. For a rank that waits for several acts the leader
 * tells the first that happened. That a meeting among them is not complete is believed if the
 * rank's host had heard of all arrivals that the latest frames of all hosts count: then the last to
 * come does so after its own M.
 *
 * Nothing goes by time alone: a host in which somebody waits asks the others once for a frame, gets
 * one as soon as something is new, and asks again if it still needs to. Otherwise the leader
 * sleeps.
 */
#include "det/hosts.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/diagnostics.h"
#include "det/shared_state_inner.h"
#include "match/send_bounds.h"
#include "reprise.h"

enum message { LETTER, TAKES, ARRIVAL, FRAME, WANT, ASK, ANSWER, SITES };
enum {
    HEAD = 8,
    MAY = 1,
    MAY_NOT = 2,
    SHORTEST = 30000,
    LONGEST = 400000
}; /* pauses in nanoseconds */

struct peer {
    int fd; /* -1: ourselves */
    struct rp_buffer out, in;
    size_t sent, read; /* of these */
    uint64_t told;     /* the last change that was in a frame */
    bool wants, is_asked;
};

/* How a rank is, as other hosts are told. */
struct state {
    uint64_t clock, wait, target, candidate, comm, number, fresh, meets, is_idle;
    char what[40];
    uint64_t relied[];
};

static struct {
    struct peer *peers;
    struct pollfd *polled;
    pthread_t thread;
    _Atomic uint32_t stops;
    uint64_t changes;
    char *states;        /* by rank */
    struct state *found; /* of one */
    struct rp_shared_look *looks;
    struct {
        uint64_t state, sent;
    } * changed;        /* by rank: at which change */
    uint64_t *sent;     /* by host and rank */
    uint64_t *received; /* by rank and host */
    uint64_t *received_changed;
    uint64_t *told;  /* by host: arrivals at meetings that it told all others */
    uint64_t *heard; /* by host and host: of these */
    uint64_t *sites; /* by host and rank: bytes of sites that it was told */
    struct {
        uint64_t end, spare;
    } * notes; /* by rank elsewhere: copies of its notes */
    long pause;
} leader;

static void give_up(const char *what)
{
    rp_error("%s", what);
    _exit(REPRISE_EXIT_INTERNAL);
}

static uint64_t *sent_by(uint32_t host, uint32_t rank)
{
    return &leader.sent[(size_t)host * rp_shared_side.ranks + rank];
}

static size_t from_host(uint32_t rank, uint32_t host)
{
    return (size_t)rank * rp_shared_side.hosts + host;
}

static uint64_t *heard_from(uint32_t by, uint32_t host)
{
    return &leader.heard[(size_t)by * rp_shared_side.hosts + host];
}

static size_t state_size(void)
{
    return sizeof(struct state) + rp_shared_words() * sizeof(uint64_t);
}

static struct state *state_of(uint32_t rank)
{
    return (struct state *)(void *)(leader.states + rank * state_size());
}

/* Speaking */

static size_t open_message(struct peer *peer)
{
    rp_buffer_u64(&peer->out, 0);
    return peer->out.length;
}

static void close_message(struct peer *peer, enum message kind, size_t begin)
{
    if (peer->out.failed)
        give_up("out of memory for other hosts");
    uint64_t head = (uint64_t)kind | (uint64_t)(peer->out.length - begin) << 8;
    memcpy(peer->out.bytes + begin - HEAD, &head, HEAD);
}

static void say(struct peer *peer, enum message kind, const uint64_t *words, size_t count)
{
    size_t begin = open_message(peer);

    rp_buffer_put(&peer->out, words, count * sizeof *words);
    close_message(peer, kind, begin);
}

static bool all_have_finished(void)
{
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (!rp_shared_is_away(i) && rp_shared_clock_of(i) != RP_SEND_NEVER)
            return false;
    return true;
}

/* Its ranks have died, and the launcher may be about to end ours: then its reasons are better than
 * ours. */
static void lose(struct peer *peer)
{
    struct timespec pause = {0, 10000000};

    close(peer->fd);
    peer->fd = -1;
    for (int i = 0; i < 300 && !all_have_finished() && !atomic_load(&leader.stops); i++)
        nanosleep(&pause, NULL);
    if (all_have_finished() || atomic_load(&leader.stops))
        return;
    rp_error("the connection to host %u of the job broke: its ranks have ended, or the network "
             "failed; the run cannot go on",
             (uint32_t)(peer - leader.peers));
    atomic_store(&rp_shared_shared()->is_cut_off, 1);
    _exit(REPRISE_EXIT_INTERNAL);
}

static void flush(struct peer *peer)
{
    while (peer->fd >= 0 && peer->sent < peer->out.length) {
        ssize_t part = send(peer->fd, peer->out.bytes + peer->sent, peer->out.length - peer->sent,
                            MSG_NOSIGNAL | MSG_DONTWAIT);
        if (part < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (part <= 0)
            lose(peer);
        else
            peer->sent += (size_t)part;
    }
    peer->sent = 0;
    rp_buffer_clear(&peer->out);
}

/* The outbox */

/* Before what refers to them. */
static void send_sites(uint32_t host, uint32_t rank)
{
    size_t length;
    const uint8_t *bytes = rp_shared_sites_of(rank, &length);
    uint64_t *told = &leader.sites[(size_t)host * rp_shared_side.ranks + rank];
    struct peer *peer = &leader.peers[host];

    if (*told == length)
        return;
    size_t begin = open_message(peer);
    rp_buffer_u64(&peer->out, rank);
    rp_buffer_put(&peer->out, bytes + *told, length - (size_t)*told);
    close_message(peer, SITES, begin);
    *told = length;
}

static void send_letter(struct rp_message_note *note)
{
    uint32_t host = rp_shared_side.host_of[note->dest];
    struct peer *peer = &leader.peers[host];
    uint64_t words[] = {note->stamp,
                        note->comm,
                        (uint32_t)note->tag | (uint64_t)(uint32_t)note->from << 32,
                        note->source | (uint64_t)note->dest << 32,
                        note->is_synchronous ? rp_shared_place(note) : 0,
                        note->site};

    send_sites(host, note->source);
    say(peer, LETTER, words, sizeof words / sizeof *words);
    if (!note->is_synchronous)
        rp_shared_give_back(note);
}

static void send_taken(struct rp_message_note *item)
{
    uint64_t words[] = {item->dest, item->home, atomic_load(&item->taken), item->stamp};

    say(&leader.peers[rp_shared_side.host_of[item->dest]], TAKES, words,
        sizeof words / sizeof *words);
    rp_shared_give_back(item);
}

static void send_arrival(struct rp_message_note *item)
{
    struct rp_shared_collective *meeting = rp_shared_meeting_at(item->home);

    for (uint32_t h = 0; h < rp_shared_side.hosts; h++) {
        if (h == rp_shared_side.host)
            continue;
        struct peer *peer = &leader.peers[h];
        send_sites(h, item->source);
        size_t begin = open_message(peer);
        rp_buffer_put(&peer->out,
                      (uint64_t[]){meeting->comm, meeting->number,
                                   item->source | (uint64_t)meeting->size << 32, item->stamp},
                      32);
        rp_buffer_put(&peer->out,
                      (uint64_t[]){item->comm,
                                   (uint32_t)item->tag | (uint64_t)(uint32_t)item->from << 32,
                                   item->site},
                      24);
        for (size_t i = 0; i < rp_shared_words(); i++)
            rp_buffer_u64(&peer->out, atomic_load(&meeting->bits[i]));
        close_message(peer, ARRIVAL, begin);
    }
    rp_shared_told(meeting);
    rp_shared_give_back(item);
}

static void empty_outbox(void)
{
    uint64_t at = rp_shared_turn_round(atomic_exchange(&rp_shared_shared()->outbox, 0));

    while (at != 0) {
        struct rp_message_note *item = rp_shared_note(at);
        at = item->next;
        if (item->kind == RP_SHARED_LETTER)
            send_letter(item);
        else if (item->kind == RP_SHARED_TAKES)
            send_taken(item);
        else
            send_arrival(item);
    }
}

/* Frames */

/* Only right if it is found unchanged after that. */
static void read_names(uint32_t rank, const struct rp_shared_look *look, struct state *state)
{
    memcpy(state->what, rp_shared_side.all[rank].what, sizeof state->what);
    if (look->wait == RP_SHARED_MEETING || look->wait == RP_SHARED_DEAF) {
        state->comm = rp_shared_meeting_at(look->object)->comm;
        state->number = rp_shared_meeting_at(look->object)->number;
    }
}

static bool look_again(uint32_t rank, struct state *state)
{
    struct rp_shared_look *look = &leader.looks[rank];

    if (!look->waits || look->may_go_on)
        return false;
    read_names(rank, look, state);
    if (!rp_shared_look_again(rank, look, state->relied))
        return false;
    state->wait = look->wait;
    state->target = look->target;
    state->candidate = look->candidate;
    state->fresh = look->fresh;
    state->meets = look->meets;
    return true;
}

static void find(uint32_t rank, struct state *state)
{
    memset(state, 0, state_size());
    if (!look_again(rank, state)) {
        memset(state, 0, state_size());
        state->wait = RP_SHARED_RUNS;
        state->is_idle = atomic_load(&rp_shared_side.all[rank].is_idle);
    }
    state->clock = leader.looks[rank].clock;
}

static void keep(uint32_t rank, const struct state *found)
{
    if (memcmp(state_of(rank), found, state_size()) == 0)
        return;
    memcpy(state_of(rank), found, state_size());
    leader.changed[rank].state = ++leader.changes;
}

static void look_at_ranks(void)
{
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (!rp_shared_is_away(i))
            rp_shared_look(i, &leader.looks[i]);
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (!rp_shared_is_away(i)) {
            find(i, leader.found);
            keep(i, leader.found);
        }
    atomic_thread_fence(memory_order_seq_cst);
}

static void count_sent(void)
{
    uint64_t arrivals = atomic_load(&rp_shared_shared()->arrivals);

    leader.changes += arrivals != leader.told[rp_shared_side.host];
    leader.told[rp_shared_side.host] = arrivals;
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++) {
        uint64_t count = rp_shared_is_away(i) ? atomic_load(rp_shared_sent(i)) : 0;
        if (count == *sent_by(rp_shared_side.host, i))
            continue;
        *sent_by(rp_shared_side.host, i) = count;
        leader.changed[i].sent = ++leader.changes;
    }
}

/* A part of a frame: entries until one that says ~0. */
#define END UINT64_MAX

static void put_states(struct peer *peer)
{
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (leader.changed[i].state > peer->told) {
            rp_buffer_u64(&peer->out, i);
            rp_buffer_put(&peer->out, state_of(i), state_size());
        }
    rp_buffer_u64(&peer->out, END);
}

static void put_sent(struct peer *peer)
{
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (leader.changed[i].sent > peer->told) {
            rp_buffer_u64(&peer->out, i);
            rp_buffer_u64(&peer->out, *sent_by(rp_shared_side.host, i));
        }
    rp_buffer_u64(&peer->out, END);
}

static void put_received(struct peer *peer)
{
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        for (uint32_t h = 0; h < rp_shared_side.hosts && !rp_shared_is_away(i); h++)
            if (leader.received_changed[from_host(i, h)] > peer->told) {
                rp_buffer_u64(&peer->out, i | (uint64_t)h << 32);
                rp_buffer_u64(&peer->out, leader.received[from_host(i, h)]);
            }
    rp_buffer_u64(&peer->out, END);
}

static void put_arrivals(struct peer *peer)
{
    rp_buffer_u64(&peer->out, leader.told[rp_shared_side.host]);
    for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
        rp_buffer_u64(&peer->out, *heard_from(rp_shared_side.host, h));
}

static void send_frame(struct peer *peer)
{
    size_t begin = open_message(peer);

    put_states(peer);
    put_sent(peer);
    put_received(peer);
    put_arrivals(peer);
    close_message(peer, FRAME, begin);
    peer->told = leader.changes;
    peer->wants = false;
}

static bool somebody_wants(void)
{
    for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
        if (leader.peers[h].wants && leader.peers[h].fd >= 0)
            return true;
    return false;
}

/* In this order. */
static void tell(void)
{
    bool is_wanted = somebody_wants();
    uint64_t before = leader.changes;

    if (is_wanted)
        look_at_ranks();
    empty_outbox();
    if (!is_wanted)
        return;
    count_sent();
    for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
        if (leader.peers[h].wants && leader.changes > leader.peers[h].told)
            send_frame(&leader.peers[h]);
    leader.pause = leader.changes > before      ? SHORTEST
                   : leader.pause * 2 > LONGEST ? LONGEST
                                                : leader.pause * 2;
}

/* Hearing */

static struct rp_message_note *copy_note(uint32_t source)
{
    uint64_t end, place = leader.notes[source].spare;

    if (place == 0)
        place = atomic_exchange(&rp_shared_side.all[source].returned, 0);
    if (place != 0) {
        leader.notes[source].spare = rp_shared_note(place)->next;
    } else {
        uint64_t begin = rp_shared_notes_of(source, &end);
        place = leader.notes[source].end == 0 ? begin : leader.notes[source].end;
        leader.notes[source].end = place + sizeof(struct rp_message_note);
        if (leader.notes[source].end > end)
            give_up("too many messages from another host are under way that were not received");
    }
    struct rp_message_note *note = rp_shared_note(place);
    memset(note, 0, sizeof *note);
    return note;
}

static void count_received(uint32_t rank, uint32_t host)
{
    leader.received[from_host(rank, host)]++;
    leader.received_changed[from_host(rank, host)] = ++leader.changes;
}

static bool hear_letter(uint32_t host, struct rp_view *view)
{
    uint64_t stamp = rp_view_u64(view), comm = rp_view_u64(view), tag_from = rp_view_u64(view),
             ranks = rp_view_u64(view), home = rp_view_u64(view), site = rp_view_u64(view);
    uint32_t source = (uint32_t)ranks, dest = (uint32_t)(ranks >> 32);

    if (view->failed || source >= rp_shared_side.ranks || dest >= rp_shared_side.ranks ||
        rp_shared_side.host_of[source] != host || rp_shared_is_away(dest))
        return false;
    struct rp_message_note *note = copy_note(source);
    note->stamp = stamp;
    note->comm = comm;
    note->tag = (int32_t)(uint32_t)tag_from;
    note->from = (int32_t)(uint32_t)(tag_from >> 32);
    note->source = source;
    note->dest = dest;
    note->is_synchronous = home != 0;
    note->is_copy = 1;
    note->home = home;
    note->site = (uint32_t)site;
    rp_shared_deliver(dest, note);
    count_received(dest, host);
    return true;
}

static bool hear_taken(uint32_t host, struct rp_view *view)
{
    uint64_t rank = rp_view_u64(view), home = rp_view_u64(view), taken = rp_view_u64(view),
             at = rp_view_u64(view), end;

    if (view->failed || rank >= rp_shared_side.ranks || rp_shared_is_away((uint32_t)rank) ||
        taken > RP_TAKEN)
        return false;
    uint64_t begin = rp_shared_notes_of((uint32_t)rank, &end);
    if (home < begin || home > end - sizeof(struct rp_message_note) ||
        (home - begin) % sizeof(struct rp_message_note) != 0)
        return false;
    rp_shared_tell(rp_shared_note(home), (enum rp_det_taken)taken, at);
    count_received((uint32_t)rank, host);
    return true;
}

static bool hear_arrival(uint32_t host, struct rp_view *view)
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

    if (view->failed || rank >= rp_shared_side.ranks || rp_shared_side.host_of[rank] != host ||
        (size_t)(view->end - view->at) != words * sizeof(uint64_t))
        return false;
    uint64_t *members = malloc(words * sizeof *members);
    if (!members)
        give_up("out of memory for other hosts");
    memcpy(members, view->at, words * sizeof *members);
    rp_shared_arrive(comm, number, members, (uint32_t)(rank_size >> 32), &call, clock);
    ++*heard_from(rp_shared_side.host, host);
    leader.changes++;
    free(members);
    return true;
}

static bool hear_sites(uint32_t host, struct rp_view *view)
{
    uint64_t rank = rp_view_u64(view);

    if (view->failed || rank >= rp_shared_side.ranks || rp_shared_side.host_of[rank] != host)
        return false;
    return rp_shared_add_sites((uint32_t)rank, view->at, (size_t)(view->end - view->at));
}

/* For those who look at the state itself. */
static void mirror_state(uint32_t rank, const struct state *state)
{
    struct rp_shared_rank *r = &rp_shared_side.all[rank];
    uint64_t version = atomic_load(&r->version);

    if (version % 2 == 0)
        atomic_store(&r->version, ++version);
    atomic_store(&r->is_idle, (uint32_t)state->is_idle);
    if (state->wait == RP_SHARED_RUNS)
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
    for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
        if (h != rp_shared_side.host && h != rp_shared_side.host_of[rank] &&
            leader.received[from_host(rank, h)] < *sent_by(h, rank))
            return false;
    return true;
}

static bool has_heard_all(uint32_t by)
{
    for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
        if (h != rp_shared_side.host && h != by && *heard_from(by, h) < leader.told[h])
            return false;
    return true;
}

static void mirror(uint32_t rank)
{
    struct rp_shared_copy *m = rp_shared_copy(rank);
    const struct state *state = state_of(rank);

    set(&m->clock, state->clock);
    set(&m->wait, state->wait);
    set(&m->target, state->target);
    set(&m->candidate, state->candidate);
    set(&m->comm, state->comm);
    set(&m->number, state->number);
    set(&m->fresh, state->fresh);
    set(&m->meets, state->meets);
    for (size_t i = 0; i < rp_shared_words(); i++)
        set(&m->relied[i], state->relied[i]);
    set(&m->received, leader.received[from_host(rank, rp_shared_side.host)]);
    set(&m->heard, *heard_from(rp_shared_side.host_of[rank], rp_shared_side.host));
    set(&m->is_believed, has_received_all(rank));
    set(&m->has_heard, has_heard_all(rp_shared_side.host_of[rank]));
}

static bool read_states(uint32_t host, struct rp_view *view)
{
    for (uint64_t rank = rp_view_u64(view); rank != END; rank = rp_view_u64(view)) {
        if (view->failed || rank >= rp_shared_side.ranks || rp_shared_side.host_of[rank] != host ||
            (size_t)(view->end - view->at) < state_size())
            return false;
        memcpy(state_of((uint32_t)rank), view->at, state_size());
        view->at += state_size();
        if (state_of((uint32_t)rank)->target >= rp_shared_side.ranks)
            return false;
    }
    return true;
}

static bool read_counts(uint32_t host, struct rp_view *view)
{
    for (uint64_t rank = rp_view_u64(view); rank != END; rank = rp_view_u64(view)) {
        if (view->failed || rank >= rp_shared_side.ranks)
            return false;
        *sent_by(host, (uint32_t)rank) = rp_view_u64(view);
    }
    for (uint64_t which = rp_view_u64(view); which != END; which = rp_view_u64(view)) {
        uint32_t rank = (uint32_t)which, from = (uint32_t)(which >> 32);
        if (view->failed || rank >= rp_shared_side.ranks || from >= rp_shared_side.hosts ||
            rp_shared_side.host_of[rank] != host)
            return false;
        leader.received[from_host(rank, from)] = rp_view_u64(view);
    }
    leader.told[host] = rp_view_u64(view);
    for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
        *heard_from(host, h) = rp_view_u64(view);
    return !view->failed;
}

static void mirror_all(void)
{
    _Atomic uint64_t *mirrored = &rp_shared_shared()->mirrored;

    atomic_fetch_add(mirrored, 1);
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (rp_shared_is_away(i))
            mirror(i);
    atomic_fetch_add(mirrored, 1);
}

/*
 * Who has seen the mirrors must not find anybody deaf who was before, and is not any more: so the
 * states themselves change first. Of a state the clock comes last, for the same reason. That both
 * are newer than the mirrors for a while does no harm: what was told before they changed has come
 * before.
 */
static bool hear_frame(uint32_t host, struct rp_view *view)
{
    bool is_good = read_states(host, view) && read_counts(host, view);

    for (uint32_t i = 0; i < rp_shared_side.ranks && is_good; i++)
        if (rp_shared_side.host_of[i] == host) {
            mirror_state(i, state_of(i));
            atomic_store_explicit(&rp_shared_clock_page(i)[1], state_of(i)->clock,
                                  memory_order_release);
        }
    mirror_all();
    leader.peers[host].is_asked = false;
    return is_good;
}

static void hear_question(uint32_t host)
{
    uint64_t answer = atomic_exchange(&rp_shared_shared()->reported, 1) == 0 ? MAY : MAY_NOT;

    say(&leader.peers[host], ANSWER, &answer, 1);
}

static bool hear(uint32_t host, enum message kind, struct rp_view view)
{
    switch (kind) {
    case LETTER:
        return hear_letter(host, &view);
    case TAKES:
        return hear_taken(host, &view);
    case ARRIVAL:
        return hear_arrival(host, &view);
    case SITES:
        return hear_sites(host, &view);
    case FRAME:
        return hear_frame(host, &view);
    case WANT:
        leader.peers[host].wants = true;
        leader.pause = SHORTEST;
        return true;
    case ASK:
        hear_question(host);
        return true;
    case ANSWER:
        atomic_store(&rp_shared_shared()->answer, (uint32_t)rp_view_u64(&view));
        return !view.failed;
    default:
        return false;
    }
}

static void hear_all(struct peer *peer)
{
    while (peer->in.length - peer->read >= HEAD) {
        uint64_t head = rp_load_u64(peer->in.bytes + peer->read);
        size_t length = (size_t)(head >> 8);
        if (peer->in.length - peer->read - HEAD < length)
            break;
        if (!hear((uint32_t)(peer - leader.peers), (enum message)(head & 255),
                  rp_view_of(peer->in.bytes + peer->read + HEAD, length)))
            give_up("another host of the job says what makes no sense");
        peer->read += HEAD + length;
    }
    memmove(peer->in.bytes, peer->in.bytes + peer->read, peer->in.length - peer->read);
    peer->in.length -= peer->read;
    peer->read = 0;
}

static void listen_to(struct peer *peer)
{
    enum { PART = 65536 };

    if (!rp_buffer_reserve(&peer->in, PART))
        give_up("out of memory for other hosts");
    ssize_t part = recv(peer->fd, peer->in.bytes + peer->in.length, PART, MSG_DONTWAIT);
    if (part < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (part <= 0) {
        lose(peer);
        return;
    }
    peer->in.length += (size_t)part;
    hear_all(peer);
}

/* The thread */

static bool is_hungry(void)
{
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (!rp_shared_is_away(i) && atomic_load(&rp_shared_side.all[i].is_hungry))
            return true;
    return false;
}

static bool has_to_ask(void)
{
    bool is_asked = true;

    for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
        is_asked &= leader.peers[h].fd < 0 || leader.peers[h].is_asked;
    return !is_asked && is_hungry();
}

static void ask(void)
{
    if (has_to_ask())
        for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
            if (leader.peers[h].fd >= 0 && !leader.peers[h].is_asked) {
                leader.peers[h].is_asked = true;
                say(&leader.peers[h], WANT, NULL, 0);
            }
    if (atomic_load(&rp_shared_shared()->asks) == 1) {
        atomic_store(&rp_shared_shared()->asks, 2);
        say(&leader.peers[0], ASK, NULL, 0);
    }
}

static void sleep_a_while(void)
{
    struct rp_shared_shared *shared = rp_shared_shared();
    bool is_wanted = somebody_wants();
    struct timespec pause = {0, leader.pause}, none = {0, 0};

    leader.polled[rp_shared_side.hosts] =
        (struct pollfd){.fd = rp_shared_wake_pipe(), .events = POLLIN};
    for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
        leader.polled[h] = (struct pollfd){
            .fd = leader.peers[h].fd,
            .events = (short)(POLLIN |
                              (leader.peers[h].sent < leader.peers[h].out.length ? POLLOUT : 0))};
    atomic_store(&shared->sleeps, 1);
    atomic_thread_fence(memory_order_seq_cst);
    bool is_busy = atomic_load(&shared->outbox) != 0 || has_to_ask() ||
                   atomic_load(&shared->asks) == 1 || atomic_load(&leader.stops);
    ppoll(leader.polled, rp_shared_side.hosts + 1,
          is_busy     ? &none
          : is_wanted ? &pause
                      : NULL,
          NULL);
    atomic_store(&shared->sleeps, 0);
}

static void drain_pipe(void)
{
    char bytes[64];

    while (read(rp_shared_wake_pipe(), bytes, sizeof bytes) > 0)
        ;
}

static void *lead(void *data)
{
    (void)data;
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    while (!atomic_load(&leader.stops)) {
        sleep_a_while();
        if (leader.polled[rp_shared_side.hosts].revents)
            drain_pipe();
        for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
            if (leader.peers[h].fd >= 0 && leader.polled[h].revents)
                listen_to(&leader.peers[h]);
        tell();
        ask();
        for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
            flush(&leader.peers[h]);
    }
    return NULL;
}

static bool make_room(void)
{
    size_t ranks = rp_shared_side.ranks, hosts = rp_shared_side.hosts;

    leader.peers = calloc(hosts, sizeof *leader.peers);
    leader.polled = calloc(hosts + 1, sizeof *leader.polled);
    leader.states = calloc(ranks, state_size());
    leader.found = calloc(1, state_size());
    leader.looks = calloc(ranks, sizeof *leader.looks);
    leader.changed = calloc(ranks, sizeof *leader.changed);
    leader.sent = calloc(ranks * hosts, sizeof *leader.sent);
    leader.received = calloc(ranks * hosts, sizeof *leader.received);
    leader.received_changed = calloc(ranks * hosts, sizeof *leader.received_changed);
    leader.told = calloc(hosts, sizeof *leader.told);
    leader.heard = calloc(hosts * hosts, sizeof *leader.heard);
    leader.sites = calloc(hosts * ranks, sizeof *leader.sites);
    leader.notes = calloc(ranks, sizeof *leader.notes);
    return leader.peers && leader.polled && leader.states && leader.found && leader.looks &&
           leader.changed && leader.sent && leader.received && leader.received_changed &&
           leader.told && leader.heard && leader.sites && leader.notes;
}

enum rp_status rp_hosts_start(const int *sockets, struct rp_problem *why)
{
    sigset_t every, before;

    if (!make_room())
        return rp_fail(why, RP_MEMORY, "out of memory for other hosts");
    for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
        leader.peers[h].fd = sockets[h];
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++) {
        state_of(i)->wait = RP_SHARED_RUNS;
        if (!rp_shared_is_away(i))
            continue;
        rp_shared_copy(i)->wait = RP_SHARED_RUNS;
        atomic_store(&rp_shared_side.all[i].version, 1);
    }
    leader.pause = SHORTEST;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    int error = pthread_create(&leader.thread, NULL, lead, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? RP_OK
                      : rp_fail(why, RP_SYSTEM, "no thread for other hosts: %s", strerror(error));
}

void rp_hosts_stop(void)
{
    atomic_store(&leader.stops, 1);
    if (write(rp_shared_wake_pipe(), "", 1) < 0 && errno != EAGAIN)
        return;
    pthread_join(leader.thread, NULL);
    for (uint32_t h = 0; h < rp_shared_side.hosts; h++)
        if (leader.peers[h].fd >= 0)
            close(leader.peers[h].fd);
}
