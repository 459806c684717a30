/* SPDX-License-Identifier: MIT */
/*
 * Which message a receive takes, found from the notes of messages alone. Notes are kept by source,
 * in the order in which they were sent. Receives of which it is not known yet are kept in the order
 * in which they were posted; each takes the earliest message that fits and that no receive before
 * it may take. Where the source is named, that is its first one that fits. Where it is not, all
 * other ranks must be known to send nothing earlier.
 *
 * That is what MPI does if messages arrive in the order of their times: a message goes to the first
 * receive that it fits, a receive takes the first message; both orders give the same.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "det/det_posted.h"
#include "match/send_bounds.h"
#include "preload/constants.h"

static struct {
    struct {
        uint64_t first, last;
    } * from;                      /* notes that no receive has, by source */
    uint64_t *known;               /* by source: it sends nothing before this */
    uint64_t mail;                 /* notes that ever came */
    unsigned waiting, synchronous; /* notes that no receive has; those of them whose sender waits */
    bool has_looked;               /* what can be known of others by now, is */
    uint64_t clear_comm, clear_until; /* no other rank of this communicator sends anything before */
    int slowest;                      /* of a communicator, when last asked */
} all;

static void start(void)
{
    all.from = calloc(rp_shared_side.ranks, sizeof *all.from);
    all.known = calloc(rp_shared_side.ranks, sizeof *all.known);
    if (!all.from || !all.known)
        rp_bug(__FILE__, __LINE__, "out of memory for notes of messages");
}

/* Lower bounds */

static void learn_bounds(void)
{
    struct rp_shared_plan plan;
    const uint64_t *bounds = rp_shared_bounds(rp_det_plan(&plan) ? &plan : NULL);

    all.has_looked = true;
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (bounds[i] > all.known[i])
            all.known[i] = bounds[i];
}

static bool is_known_later(uint32_t world, uint64_t stamp, uint32_t rank)
{
    if (rp_send_is_before(stamp, rank, all.known[world], world))
        return true;
    uint64_t clock = rp_shared_clock_of(world);
    if (clock > all.known[world])
        all.known[world] = clock;
    return rp_send_is_before(stamp, rank, all.known[world], world);
}

/* Whether all messages that this rank of the job sends from now on come after one. */
static bool comes_after(uint32_t world, uint64_t stamp, uint32_t rank)
{
    if (is_known_later(world, stamp, rank))
        return true;
    if (rp_shared_runs(world)) /* then nothing is known but its clock */
        return false;
    if (!all.has_looked)
        learn_bounds();
    return rp_send_is_before(stamp, rank, all.known[world], world);
}

bool rp_det_is_later(uint32_t world, uint64_t limit)
{
    return world == rp_shared_side.rank || comes_after(world, limit, UINT32_MAX);
}

/* Notes */

static bool fits(const struct rp_det_receive *receive, const struct rp_message_note *note)
{
    return note->comm == receive->comm->id &&
           (receive->tag == MPI_ANY_TAG || receive->tag == note->tag) &&
           (receive->source == MPI_ANY_SOURCE || receive->world == note->source);
}

static struct rp_message_note *first_from(const struct rp_det_receive *receive, uint32_t world)
{
    for (uint64_t at = all.from[world].first; at != 0; at = rp_shared_note(at)->own_next)
        if (fits(receive, rp_shared_note(at)))
            return rp_shared_note(at);
    return NULL;
}

static struct rp_message_note *earliest(const struct rp_det_receive *receive)
{
    struct rp_message_note *best = NULL;

    if (receive->source != MPI_ANY_SOURCE)
        return first_from(receive, receive->world);
    for (int i = 0; i < receive->comm->size; i++) {
        struct rp_message_note *note = first_from(receive, receive->comm->world[i]);
        if (note &&
            (!best || rp_send_is_before(note->stamp, note->source, best->stamp, best->source)))
            best = note;
    }
    return best;
}

/* What we send to ourselves counts as well, unless we go on with this message only. */
static bool is_certain(const struct rp_det_receive *receive, const struct rp_message_note *note)
{
    bool is_awaited = rp_det_awaits(receive);

    if (receive->source != MPI_ANY_SOURCE)
        return true;
    for (int i = 0; i < receive->comm->size; i++) {
        uint32_t world = receive->comm->world[i];
        if (!(world == rp_shared_side.rank && is_awaited) && world != note->source &&
            !first_from(receive, world) && !comes_after(world, note->stamp, note->source))
            return false;
    }
    return !rp_shared_has_mail(); /* what was sent before the bounds were found is here by now */
}

/* The message that the receive takes; NULL: not certain yet. */
static struct rp_message_note *match(const struct rp_det_receive *receive)
{
    struct rp_message_note *note = all.waiting > 0 ? earliest(receive) : NULL;

    if (!note || rp_det_posted_first(note, receive) || !is_certain(receive, note))
        return NULL;
    return note;
}

static void remove_note(struct rp_message_note *note)
{
    uint64_t place = rp_shared_place(note), before = 0;
    uint64_t *link = &all.from[note->source].first;

    while (*link != place) {
        before = *link;
        link = &rp_shared_note(*link)->own_next;
    }
    *link = note->own_next;
    if (all.from[note->source].last == place)
        all.from[note->source].last = before;
    all.waiting--;
    all.synchronous -= note->is_synchronous;
}

static void add_note(struct rp_message_note *note)
{
    uint64_t place = rp_shared_place(note), last = all.from[note->source].last;

    note->own_next = 0;
    if (last != 0)
        rp_shared_note(last)->own_next = place;
    else
        all.from[note->source].first = place;
    all.from[note->source].last = place;
    all.waiting++;
    all.synchronous += note->is_synchronous;
    if (note->stamp > all.known[note->source]) /* its next ones are sent later */
        all.known[note->source] = note->stamp;
}

/* Receives */

static void make_delayed(struct rp_det_receive *receive)
{
    receive->is_made = true;
    rp_real_irecv(receive->buf, receive->count, receive->type, receive->from, receive->its_tag,
                  receive->comm->comm, &receive->real);
    if (receive->owns_type)
        rp_pmpi.Type_free(&receive->type);
    receive->owns_type = false;
}

/* The synchronous sender learns when: the later of both. As with notes, our clock must not be seen
 * to move on before, also if the program itself moves it. */
void rp_det_tell_sender(struct rp_message_note *note, uint64_t posted)
{
    rp_shared_tell(note, RP_TAKEN, posted > note->stamp ? posted : note->stamp);
    atomic_thread_fence(memory_order_seq_cst);
}

static void take(struct rp_det_receive *receive, struct rp_message_note *note)
{
    remove_note(note);
    if (receive->is_listed)
        rp_det_posted_remove(receive);
    receive->is_known = true;
    receive->stamp = note->stamp;
    receive->from_world = note->source;
    receive->from = note->from;
    receive->its_tag = note->tag;
    receive->note = note->is_synchronous && !receive->is_probe ? NULL : note;
    if (receive->is_delayed && !receive->is_made)
        make_delayed(receive);
    if (note->is_synchronous && receive->is_probe)
        rp_shared_tell(note, RP_TAKEN_NOT, 0);
    else if (note->is_synchronous)
        rp_det_tell_sender(note, receive->posted);
}

static void tell_senders(void)
{
    if (all.synchronous == 0)
        return;
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        for (uint64_t at = all.from[i].first; at != 0; at = rp_shared_note(at)->own_next) {
            struct rp_message_note *note = rp_shared_note(at);
            if (note->is_synchronous)
                rp_shared_tell(note, rp_det_posted_first(note, NULL) ? RP_TAKEN_OPEN : RP_TAKEN_NOT,
                               0);
        }
    atomic_thread_fence(memory_order_seq_cst);
}

/* A receive that names its source takes its message as soon as it is the first that wants it, and
 * wants none before it, which a receive posted earlier may yet leave to it. */
static void offer(struct rp_message_note *note)
{
    struct rp_det_receive *receive = rp_det_posted_first(note, NULL);

    if (receive && receive->source != MPI_ANY_SOURCE && first_from(receive, note->source) == note)
        take(receive, note);
}

static void offer_all(void)
{
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        for (uint64_t at = all.from[i].first, next; at != 0; at = next) {
            next = rp_shared_note(at)->own_next;
            offer(rp_shared_note(at));
        }
}

/* Of the others, one takes its message if that is certain; then others may be free to. */
static struct rp_det_receive *next_certain(struct rp_message_note **note)
{
    struct rp_det_line *line = NULL;

    if (all.waiting == 0)
        return NULL;
    while ((line = rp_det_posted_next(line)))
        if (line->world == RP_DET_ANYONE && (*note = match(line->first)))
            return line->first;
    return NULL;
}

static void read_inbox(void)
{
    if (!all.from)
        start();
    for (uint64_t at = rp_shared_has_mail() ? rp_shared_take_mail() : 0; at != 0;) {
        struct rp_message_note *note = rp_shared_note(at);
        at = note->next;
        all.mail++;
        add_note(note);
        offer(note);
    }
}

void rp_det_read_mail(void)
{
    read_inbox();
    tell_senders();
}

void rp_det_resolve(void)
{
    struct rp_message_note *note;
    struct rp_det_receive *receive;

    all.has_looked = false;
    while ((receive = next_certain(&note))) {
        take(receive, note);
        if (rp_det_has_delayed())
            offer_all();
    }
    tell_senders();
}

void rp_det_receive_mail(void)
{
    read_inbox();
    rp_det_resolve();
}

void rp_det_forget_bounds(void)
{
    all.has_looked = false;
}

bool rp_det_would_resolve(void)
{
    struct rp_message_note *note;

    return next_certain(&note) != NULL;
}

static uint64_t stamp_of(const struct rp_det_receive *receive)
{
    const struct rp_message_note *note = earliest(receive);

    return note ? note->stamp : RP_SEND_NEVER;
}

uint64_t rp_det_candidate(const struct rp_det_receive *probe)
{
    uint64_t least = probe && all.waiting > 0 ? stamp_of(probe) : RP_SEND_NEVER;
    struct rp_det_line *line = NULL;

    while (all.waiting > 0 && (line = rp_det_posted_next(line))) {
        uint64_t stamp = stamp_of(line->first);
        least = stamp < least ? stamp : least;
    }
    return least;
}

uint64_t rp_det_unreceived(uint32_t source)
{
    return all.from[source].first;
}

uint64_t rp_det_mail_count(void)
{
    return all.mail;
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
    struct rp_message_note *note = receive->source != MPI_ANY_SOURCE && all.waiting > 0
                                       ? first_from(receive, receive->world)
                                       : NULL;
    if (note && !rp_det_posted_first(note, receive))
        take(receive, note);
    tell_senders();
}

void rp_det_receive_close(struct rp_det_receive *receive)
{
    if (receive->is_listed)
        rp_det_posted_remove(receive);
    if (receive->owns_type)
        rp_pmpi.Type_free(&receive->type);
    receive->owns_type = false;
    if (receive->note)
        rp_shared_give_back(receive->note);
    receive->note = NULL;
}

/* Its message goes back to where it was, among those of its source. */
static void put_back(struct rp_message_note *note)
{
    uint64_t place = rp_shared_place(note);
    uint64_t *link = &all.from[note->source].first;

    while (*link != 0 && rp_shared_note(*link)->stamp < note->stamp)
        link = &rp_shared_note(*link)->own_next;
    note->own_next = *link;
    *link = place;
    if (note->own_next == 0)
        all.from[note->source].last = place;
    all.waiting++;
    all.synchronous += note->is_synchronous;
}

void rp_det_receive_cancel(struct rp_det_receive *receive)
{
    struct rp_message_note *note = receive->note;

    receive->note = NULL;
    rp_det_receive_close(receive);
    if (receive->is_known && !note)
        rp_det_refuse("MPI_Cancel of a receive whose message was sent synchronously, but later");
    receive->is_known = false;
    if (note)
        put_back(note);
    offer_all();
    tell_senders();
}

/* Polls ask this again and again, each a little later. */
static bool all_are_later(const struct rp_det_comm *comm, uint64_t limit)
{
    uint64_t until = RP_SEND_NEVER;

    if (comm->id == all.clear_comm && limit < all.clear_until)
        return true;
    if (all.slowest < comm->size && !rp_det_is_later(comm->world[all.slowest], limit))
        return false;
    for (int i = 0; i < comm->size; i++) {
        if (!rp_det_is_later(comm->world[i], limit)) {
            all.slowest = i;
            return false;
        }
        if (comm->world[i] != rp_shared_side.rank && all.known[comm->world[i]] < until)
            until = all.known[comm->world[i]];
    }
    all.clear_comm = comm->id;
    all.clear_until = until;
    return true;
}

static bool none_before(const struct rp_det_receive *receive, uint64_t limit)
{
    return receive->source == MPI_ANY_SOURCE ? all_are_later(receive->comm, limit)
                                             : rp_det_is_later(receive->world, limit);
}

/* Whether it is certain that no message sent at the limit or before is for this receive or probe;
 * there may be one that another receive wants first. */
static bool is_after(const struct rp_det_receive *receive, uint64_t limit)
{
    const struct rp_message_note *note = all.waiting > 0 ? earliest(receive) : NULL;

    if (note && receive->source != MPI_ANY_SOURCE && note->stamp > limit)
        return true;
    return (!note || note->stamp > limit) && none_before(receive, limit) && !rp_shared_has_mail();
}

/* What was sent at time s is seen from s + latency on. */
static uint64_t seen_until(uint64_t limit)
{
    return limit > rp_shared_side.latency ? limit - rp_shared_side.latency : 0;
}

enum rp_det_known rp_det_receive_look(struct rp_det_receive *receive, uint64_t limit,
                                      uint64_t *when)
{
    if (receive->is_known) {
        *when = receive->stamp + rp_shared_side.latency;
        return RP_DET_KNOWN;
    }
    return is_after(receive, seen_until(limit)) ? RP_DET_AFTER : RP_DET_OPEN;
}

static bool is_taken(void *data, bool only_whether)
{
    (void)only_whether;
    return ((struct rp_det_receive *)data)->is_known;
}

static struct rp_det_wait wait_for(const struct rp_det_receive *receive)
{
    bool is_named = receive->source != MPI_ANY_SOURCE && !receive->is_delayed;

    return (struct rp_det_wait){.kind = is_named ? RP_SHARED_MESSAGE : RP_SHARED_ANY,
                                .target = receive->world,
                                .candidate = RP_SEND_NEVER,
                                .receive = receive,
                                .what = rp_det.function};
}

void rp_det_receive_wait(struct rp_det_receive *receive)
{
    struct rp_det_wait wait = wait_for(receive);

    rp_det_wait(is_taken, receive, &wait);
    rp_shared_raise(receive->stamp + rp_shared_side.latency);
}

/* Probes */

struct probe {
    struct rp_det_receive *probe;
    struct rp_message_note *note;
    uint64_t limit;
    bool is_after;
};

static bool is_found(void *data, bool only_whether)
{
    struct probe *p = data;

    (void)only_whether;
    p->note = match(p->probe);
    return p->note != NULL;
}

struct rp_message_note *rp_det_probe_wait(struct rp_det_receive *probe)
{
    struct probe p = {.probe = probe};
    struct rp_det_wait wait = wait_for(probe);

    wait.probe = probe;
    rp_det_wait(is_found, &p, &wait);
    rp_shared_raise(p.note->stamp + rp_shared_side.latency);
    return p.note;
}

static bool is_decided(void *data, bool only_whether)
{
    struct probe *p = data;

    if (is_found(data, only_whether))
        return true;
    p->is_after = is_after(p->probe, p->limit);
    return p->is_after;
}

struct rp_message_note *rp_det_probe_test(struct rp_det_receive *probe, uint64_t limit)
{
    struct probe p = {.probe = probe, .limit = seen_until(limit)};
    struct rp_det_wait wait = {.runs = true};

    rp_det_wait(is_decided, &p, &wait);
    return p.note && p.note->stamp <= p.limit ? p.note : NULL;
}
