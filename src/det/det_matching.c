/* SPDX-License-Identifier: MIT */
/*
 * Messages are kept by source, in the order in which they were sent. Receives of which it is not
 * known yet are kept in the order in which they were posted (det_posted.h). Each takes the earliest
 * message that fits and that no receive before it may take. Where the source is named, that is its
 * first message that fits. Where it is not, it is the earliest of those that have arrived, once the
 * clock vector says that all other ranks send nothing earlier.
 *
 * That is what MPI does if messages arrive in the order of their times: a message goes to the first
 * receive that it fits, and a receive takes the first message; the result is the same either way.
 */
#include "det/det_matching.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "det/det_real.h"
#include "match/send_bounds.h"
#include "preload/constants.h"

static struct {
    struct {
        uint64_t first, last;
    } * from;               /* messages that no receive has, by source */
    uint64_t *clock_vector; /* by source: it sends nothing before this */
    uint64_t received;      /* messages that ever arrived */
    unsigned waiting,
        synchronous; /* messages that no receive has; those of them whose sender waits */
    bool has_looked; /* what can be known of others by now, is */
    uint64_t clear_comm, clear_until; /* no other rank of this communicator sends anything before */
    int slowest;                      /* of a communicator, when last asked */
    const struct rp_det_wait *waiting_for; /* this rank does */
} matching;

static void start(void)
{
    matching.from = calloc(rp_shared.room, sizeof *matching.from);
    matching.clock_vector = calloc(rp_shared.room, sizeof *matching.clock_vector);
    if (!matching.from || !matching.clock_vector)
        rp_bug(__FILE__, __LINE__, "out of memory for envelopes of messages");
}

void rp_det_set_waiting(const struct rp_det_wait *wait)
{
    matching.waiting_for = wait;
}

/* Send bounds */

/* What this rank waits for is published while its bounds are looked for. */
static uint64_t candidate_of(const struct rp_det_receive *probe);

/* What a probe waits for may be here already, but wanted by receives before it. */
static enum rp_shared_wait kind_of(const struct rp_det_wait *wait, uint64_t candidate)
{
    return wait->probe && (candidate != RP_SEND_NEVER || rp_det_has_delayed()) ? RP_WAIT_ANY
                                                                               : wait->kind;
}

bool rp_det_plan(struct rp_shared_plan *plan)
{
    const struct rp_det_wait *wait = matching.waiting_for;

    if (!wait || wait->runs)
        return false;
    uint64_t candidate =
        wait->kind == RP_WAIT_ANY || wait->probe ? candidate_of(wait->probe) : RP_SEND_NEVER;
    if (wait->candidate < candidate)
        candidate = wait->candidate;
    *plan =
        (struct rp_shared_plan){kind_of(wait, candidate), wait->target, candidate, wait->object};
    return true;
}

static bool awaits(const struct rp_det_receive *receive)
{
    return matching.waiting_for && matching.waiting_for->receive == receive;
}

static void learn_bounds(void)
{
    struct rp_shared_plan plan;
    const uint64_t *bounds = rp_shared_bounds(rp_det_plan(&plan) ? &plan : NULL);

    matching.has_looked = true;
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (bounds[i] > matching.clock_vector[i])
            matching.clock_vector[i] = bounds[i];
}

static bool is_known_later(uint32_t world, uint64_t stamp, uint32_t rank)
{
    if (rp_send_is_before(stamp, rank, matching.clock_vector[world], world))
        return true;
    uint64_t clock = rp_shared_clock_of(world);
    if (clock > matching.clock_vector[world])
        matching.clock_vector[world] = clock;
    return rp_send_is_before(stamp, rank, matching.clock_vector[world], world);
}

/* Returns whether all messages that this rank of the job sends from now on are later than one. */
static bool comes_after(uint32_t world, uint64_t stamp, uint32_t rank)
{
    if (is_known_later(world, stamp, rank))
        return true;
    if (rp_shared_runs(world)) /* then nothing is known but its clock */
        return false;
    if (!matching.has_looked)
        learn_bounds();
    return rp_send_is_before(stamp, rank, matching.clock_vector[world], world);
}

bool rp_det_is_later(uint32_t world, uint64_t limit)
{
    return world == rp_shared.rank || comes_after(world, limit, UINT32_MAX);
}

bool rp_det_is_turn_before(uint64_t now, uint32_t world)
{
    return world == rp_shared.rank || comes_after(world, now, rp_shared.rank);
}

/* Messages */

static bool fits(const struct rp_det_receive *receive, const struct rp_shared_message *message)
{
    return message->comm == receive->comm->id &&
           (receive->tag == MPI_ANY_TAG || receive->tag == message->tag) &&
           (receive->source == MPI_ANY_SOURCE || receive->world == message->source);
}

static struct rp_shared_message *first_from(const struct rp_det_receive *receive, uint32_t world)
{
    for (uint64_t at = matching.from[world].first; at != 0; at = rp_shared_message_at(at)->own_next)
        if (fits(receive, rp_shared_message_at(at)))
            return rp_shared_message_at(at);
    return NULL;
}

static struct rp_shared_message *earliest(const struct rp_det_receive *receive)
{
    struct rp_shared_message *best = NULL;

    if (receive->source != MPI_ANY_SOURCE)
        return first_from(receive, receive->world);
    for (int i = 0; i < receive->comm->size; i++) {
        struct rp_shared_message *message = first_from(receive, receive->comm->world[i]);
        if (message && (!best || rp_send_is_before(message->stamp, message->source, best->stamp,
                                                   best->source)))
            best = message;
    }
    return best;
}

static uint64_t stamp_of(const struct rp_det_receive *receive)
{
    const struct rp_shared_message *message = earliest(receive);

    return message ? message->stamp : RP_SEND_NEVER;
}

static uint64_t candidate_of(const struct rp_det_receive *probe)
{
    uint64_t least = probe && matching.waiting > 0 ? stamp_of(probe) : RP_SEND_NEVER;
    struct rp_det_queue *queue = NULL;

    while (matching.waiting > 0 && (queue = rp_det_posted_next(queue))) {
        uint64_t stamp = stamp_of(queue->first);
        least = stamp < least ? stamp : least;
    }
    return least;
}

/* What we send to ourselves counts as well, unless we go on with this message only. */
static bool is_certain(const struct rp_det_receive *receive,
                       const struct rp_shared_message *message)
{
    bool is_awaited = awaits(receive);

    if (receive->source != MPI_ANY_SOURCE)
        return true;
    for (int i = 0; i < receive->comm->size; i++) {
        uint32_t world = receive->comm->world[i];
        if (!(world == rp_shared.rank && is_awaited) && world != message->source &&
            !first_from(receive, world) && !comes_after(world, message->stamp, message->source))
            return false;
    }
    return !rp_shared_has_inbox(); /* what was sent before the bounds were found is here by now */
}

/* The message that the receive takes; NULL: not certain yet. */
struct rp_shared_message *rp_det_match(const struct rp_det_receive *receive)
{
    struct rp_shared_message *message = matching.waiting > 0 ? earliest(receive) : NULL;

    if (!message || rp_det_posted_first(message, receive) || !is_certain(receive, message))
        return NULL;
    return message;
}

static void remove_message(struct rp_shared_message *message)
{
    uint64_t place = rp_shared_offset(message), before = 0;
    uint64_t *link = &matching.from[message->source].first;

    while (*link != place) {
        before = *link;
        link = &rp_shared_message_at(*link)->own_next;
    }
    *link = message->own_next;
    if (matching.from[message->source].last == place)
        matching.from[message->source].last = before;
    matching.waiting--;
    matching.synchronous -= message->is_synchronous;
}

static void add_message(struct rp_shared_message *message)
{
    uint64_t place = rp_shared_offset(message), last = matching.from[message->source].last;

    message->own_next = 0;
    if (last != 0)
        rp_shared_message_at(last)->own_next = place;
    else
        matching.from[message->source].first = place;
    matching.from[message->source].last = place;
    matching.waiting++;
    matching.synchronous += message->is_synchronous;
    if (message->stamp > matching.clock_vector[message->source]) /* its next ones are sent later */
        matching.clock_vector[message->source] = message->stamp;
}

static void make_delayed(struct rp_det_receive *receive)
{
    receive->is_made = true;
    rp_real_irecv(receive->buf, receive->count, receive->type, receive->from, receive->its_tag,
                  receive->comm->comm, &receive->real);
    if (receive->owns_type)
        rp_pmpi.Type_free(&receive->type);
    receive->owns_type = false;
}

/* The sender of a synchronous message learns when it was received: the later of both times. As with
 * messages, our clock must not be seen to move on before, also if the program itself moves it. */
void rp_det_notify_sender(struct rp_shared_message *message, uint64_t posted)
{
    rp_shared_notify_sender(message, RP_MATCHED, posted > message->stamp ? posted : message->stamp);
    atomic_thread_fence(memory_order_seq_cst);
}

static void take_message(struct rp_det_receive *receive, struct rp_shared_message *message)
{
    remove_message(message);
    if (receive->is_listed)
        rp_det_posted_remove(receive);
    receive->is_known = true;
    receive->stamp = message->stamp;
    receive->from_world = message->source;
    receive->from = message->from;
    receive->its_tag = message->tag;
    receive->message = message->is_synchronous && !receive->is_probe ? NULL : message;
    if (receive->is_delayed && !receive->is_made)
        make_delayed(receive);
    if (message->is_synchronous && receive->is_probe)
        rp_shared_notify_sender(message, RP_MATCHED_NOT, 0);
    else if (message->is_synchronous)
        rp_det_notify_sender(message, receive->posted);
}

static void notify_senders(void)
{
    if (matching.synchronous == 0)
        return;
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        for (uint64_t at = matching.from[i].first; at != 0;
             at = rp_shared_message_at(at)->own_next) {
            struct rp_shared_message *message = rp_shared_message_at(at);
            if (message->is_synchronous)
                rp_shared_notify_sender(message,
                                        rp_det_posted_first(message, NULL) ? RP_MATCHED_PERHAPS
                                                                           : RP_MATCHED_NOT,
                                        0);
        }
    atomic_thread_fence(memory_order_seq_cst);
}

/* A receive that names its source takes its message as soon as it is the first that wants it, and
 * wants none before it, which a receive posted earlier may yet leave to it. */
static void match_by_source(struct rp_shared_message *message)
{
    struct rp_det_receive *receive = rp_det_posted_first(message, NULL);

    if (receive && receive->source != MPI_ANY_SOURCE &&
        first_from(receive, message->source) == message)
        take_message(receive, message);
}

static void match_all_by_source(void)
{
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        for (uint64_t at = matching.from[i].first, next; at != 0; at = next) {
            next = rp_shared_message_at(at)->own_next;
            match_by_source(rp_shared_message_at(at));
        }
}

/* Of the others, one takes its message if that is certain; then others may be free to. */
static struct rp_det_receive *next_certain(struct rp_shared_message **message)
{
    struct rp_det_queue *queue = NULL;

    if (matching.waiting == 0)
        return NULL;
    while ((queue = rp_det_posted_next(queue)))
        if (queue->world == RP_DET_ANYONE && (*message = rp_det_match(queue->first)))
            return queue->first;
    return NULL;
}

static void read_inbox(void)
{
    if (!matching.from)
        start();
    rp_shared_see_jobs();
    for (uint64_t at = rp_shared_has_inbox() ? rp_shared_inbox_take() : 0; at != 0;) {
        struct rp_shared_message *message = rp_shared_message_at(at);
        at = message->next;
        matching.received++;
        add_message(message);
        match_by_source(message);
    }
}

void rp_det_read_inbox(void)
{
    read_inbox();
    notify_senders();
}

void rp_det_resolve(void)
{
    struct rp_shared_message *message;
    struct rp_det_receive *receive;

    matching.has_looked = false;
    while ((receive = next_certain(&message))) {
        take_message(receive, message);
        if (rp_det_has_delayed())
            match_all_by_source();
    }
    notify_senders();
}

void rp_det_match_messages(void)
{
    read_inbox();
    rp_det_resolve();
}

void rp_det_forget_bounds(void)
{
    matching.has_looked = false;
}

bool rp_det_would_resolve(void)
{
    struct rp_shared_message *message;

    return next_certain(&message) != NULL;
}

uint64_t rp_det_unreceived(uint32_t source)
{
    return matching.from[source].first;
}

uint64_t rp_det_messages_received(void)
{
    return matching.received;
}

bool rp_det_has_delayed(void)
{
    return rp_det_posted_next(NULL) != NULL;
}

bool rp_det_has_receives(void)
{
    return !rp_det_posted_is_empty();
}

bool rp_det_receive_open(struct rp_det_receive *receive, MPI_Comm comm, int source, int tag)
{
    struct rp_det_comm *c =
        source == MPI_PROC_NULL || (tag < 0 && tag != MPI_ANY_TAG) ? NULL : rp_det_comm_find(comm);

    memset(receive, 0, sizeof *receive);
    if (!c || (source != MPI_ANY_SOURCE && (source < 0 || source >= c->size)))
        return false;
    receive->comm = c;
    receive->source = source;
    receive->tag = tag;
    receive->world = source == MPI_ANY_SOURCE ? 0 : c->world[source];
    receive->real = rp_constant.request_null;
    return true;
}

bool rp_det_receive_must_delay(const struct rp_det_receive *receive)
{
    return receive->source == MPI_ANY_SOURCE || rp_det_posted_overlaps(receive);
}

void rp_det_receive_post(struct rp_det_receive *receive)
{
    read_inbox();
    receive->posted = rp_shared_now();
    rp_det_posted_add(receive);
    struct rp_shared_message *message = receive->source != MPI_ANY_SOURCE && matching.waiting > 0
                                            ? first_from(receive, receive->world)
                                            : NULL;
    if (message && !rp_det_posted_first(message, receive))
        take_message(receive, message);
    notify_senders();
}

void rp_det_receive_close(struct rp_det_receive *receive)
{
    if (receive->is_listed)
        rp_det_posted_remove(receive);
    if (receive->owns_type)
        rp_pmpi.Type_free(&receive->type);
    receive->owns_type = false;
    if (receive->message)
        rp_shared_message_return(receive->message);
    receive->message = NULL;
}

/* Its message goes back to where it was, among those of its source. */
static void put_back(struct rp_shared_message *message)
{
    uint64_t place = rp_shared_offset(message);
    uint64_t *link = &matching.from[message->source].first;

    while (*link != 0 && rp_shared_message_at(*link)->stamp < message->stamp)
        link = &rp_shared_message_at(*link)->own_next;
    message->own_next = *link;
    *link = place;
    if (message->own_next == 0)
        matching.from[message->source].last = place;
    matching.waiting++;
    matching.synchronous += message->is_synchronous;
}

void rp_det_receive_cancel(struct rp_det_receive *receive)
{
    struct rp_shared_message *message = receive->message;

    receive->message = NULL;
    rp_det_receive_close(receive);
    if (receive->is_known && !message)
        rp_det_refuse("MPI_Cancel of a receive whose message was sent synchronously, but later");
    receive->is_known = false;
    if (message)
        put_back(message);
    match_all_by_source();
    notify_senders();
}

/* Polls ask this again and again, each a little later. */
static bool all_are_later(const struct rp_det_comm *comm, uint64_t limit)
{
    uint64_t until = RP_SEND_NEVER;

    if (comm->id == matching.clear_comm && limit < matching.clear_until)
        return true;
    if (matching.slowest < comm->size && !rp_det_is_later(comm->world[matching.slowest], limit))
        return false;
    for (int i = 0; i < comm->size; i++) {
        if (!rp_det_is_later(comm->world[i], limit)) {
            matching.slowest = i;
            return false;
        }
        if (comm->world[i] != rp_shared.rank && matching.clock_vector[comm->world[i]] < until)
            until = matching.clock_vector[comm->world[i]];
    }
    matching.clear_comm = comm->id;
    matching.clear_until = until;
    return true;
}

static bool none_before(const struct rp_det_receive *receive, uint64_t limit)
{
    return receive->source == MPI_ANY_SOURCE ? all_are_later(receive->comm, limit)
                                             : rp_det_is_later(receive->world, limit);
}

/* Whether it is certain that no message sent at the limit or before is for this receive or probe;
 * there may be one that another receive wants first. */
bool rp_det_is_after(const struct rp_det_receive *receive, uint64_t limit)
{
    const struct rp_shared_message *message = matching.waiting > 0 ? earliest(receive) : NULL;

    if (message && receive->source != MPI_ANY_SOURCE && message->stamp > limit)
        return true;
    return (!message || message->stamp > limit) && none_before(receive, limit) &&
           !rp_shared_has_inbox();
}

/* What was sent at time s is seen from s + latency on. */
uint64_t rp_det_seen_until(uint64_t limit)
{
    return limit > rp_shared.latency ? limit - rp_shared.latency : 0;
}

enum rp_det_known rp_det_receive_look(struct rp_det_receive *receive, uint64_t limit,
                                      uint64_t *when)
{
    if (receive->is_known) {
        *when = receive->stamp + rp_shared.latency;
        return RP_DET_KNOWN;
    }
    return rp_det_is_after(receive, rp_det_seen_until(limit)) ? RP_DET_AFTER : RP_DET_OPEN;
}
