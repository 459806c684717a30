/* SPDX-License-Identifier: MIT */
/*
 * The transport: headers, each with a short payload behind it, are received from anyone into a ring
 * of buffers that are always posted; long payloads, unless receivers read them in our log, are sent
 * right behind their header by a tag that follows from their number, and received in place once the
 * header has been matched. A receive from anyone hears of every failure, whatever the program waits
 * for.
 *
 * Real MPI calls only ever note that something broke. Recovery starts in rp_ft_progress, outside of
 * coroutines.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "ft/ft.h"
#include "reprise.h"

enum {
    RING = 32,
    TAG_HEADER = 1,
    TAG_PAYLOAD = 1 << 22, /* and the number, modulo PAYLOADS */
    TAG_SETUP_PAYLOAD = 1 << 23,
    TAG_CONTROL = 1 << 24,
    PAYLOADS = 1 << 20,
};

struct slot {
    MPI_Request real;
    struct rp_ft_wire wire; /* with the payload behind */
    uint8_t payload[RP_FT_INLINE];
};

struct control {
    struct control *next;
    MPI_Request real[2];
    struct rp_ft_wire wire;
};

/* A long payload of a message of our own, on its way in. */
struct incoming {
    struct incoming *next;
    MPI_Request real;
    struct rp_ft_wire wire;
};

static struct slot *ring;
static unsigned head;
static struct rp_ft_entry *under_way;
static struct control *controls;
static struct incoming *incoming;
static bool is_open;

static bool check(int code)
{
    if (code != MPI_SUCCESS)
        rp_ft.broken = true;
    return code == MPI_SUCCESS;
}

static void post(struct slot *slot)
{
    if (!check(rp_real.Irecv(&slot->wire, (int)(sizeof slot->wire + sizeof slot->payload), MPI_BYTE,
                             MPI_ANY_SOURCE, TAG_HEADER, rp_ft.world, &slot->real)))
        slot->real = MPI_REQUEST_NULL;
}

void rp_ft_wire_open(void)
{
    if (!ring)
        ring = rp_ft_alloc(RING * sizeof *ring);
    head = 0;
    is_open = true;
    rp_ft_share_begin_world();
    for (unsigned i = 0; i < RING; i++)
        post(&ring[i]);
}

int rp_ft_payload_tag(const struct rp_ft_wire *wire)
{
    if (wire->kind != RP_FT_DATA)
        return TAG_CONTROL + (int)wire->kind;
    return (wire->flags & RP_FT_SETUP ? TAG_SETUP_PAYLOAD : TAG_PAYLOAD) +
           (int)(wire->seq % PAYLOADS);
}

static void send_payload(const struct rp_ft_wire *wire, const void *payload, int to,
                         MPI_Request *real)
{
    if (wire->bytes > INT32_MAX)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "%s: a message of %llu bytes is longer than reprise ft can send", rp_ft.call,
                  (unsigned long long)wire->bytes);
    if (!check(rp_real.Isend(payload, (int)wire->bytes, MPI_BYTE, rp_ft.process_of[to],
                             rp_ft_payload_tag(wire), rp_ft.world, real)))
        *real = MPI_REQUEST_NULL;
}

static bool is_finished(MPI_Request real[2])
{
    int done = 1;

    for (int i = 0; i < 2; i++)
        if (real[i] != MPI_REQUEST_NULL &&
            (!check(rp_real.Test(&real[i], &done, MPI_STATUS_IGNORE)) || !done))
            return false;
    return true;
}

/* A send has left, unless it waits for its match. */
static void left(struct rp_ft_entry *entry)
{
    entry->under_way = false;
    free(entry->whole);
    entry->whole = NULL;
    if (!(entry->wire.flags & RP_FT_SYNC))
        rp_ft_entry_done(entry);
}

static void note_under_way(struct rp_ft_entry *entry)
{
    entry->under_way = !is_finished(entry->real);
    if (entry->under_way) {
        entry->next_under_way = under_way;
        under_way = entry;
    } else {
        left(entry);
    }
}

static const void *payload_of(struct rp_ft_entry *entry)
{
    if (entry->stored == entry->wire.bytes)
        return rp_ft_payload(entry);
    entry->whole = rp_ft_unsqueeze(rp_ft_payload(entry), entry->stored, entry->wire.bytes);
    return entry->whole;
}

void rp_ft_transmit(struct rp_ft_entry *entry, int to, uint32_t flags, const void *payload)
{
    struct rp_ft_wire *wire = &entry->wire;
    bool shares = rp_ft_share_with(to, entry);
    size_t behind = wire->bytes <= RP_FT_INLINE && !shares ? wire->bytes : 0;

    if (!is_open)
        return;
    wire->flags = (wire->flags & RP_FT_SYNC) | flags | (shares ? RP_FT_SHARED : 0);
    wire->place = shares ? rp_ft_log_place(entry) : 0;
    entry->taken = false;
    if (wire->bytes >= RP_FT_SHARED_FROM)
        rp_ft_share_offer(to);
    atomic_thread_fence(memory_order_release);
    entry->real[0] = entry->real[1] = MPI_REQUEST_NULL;
    if (!check(rp_real.Isend(wire, (int)(sizeof *wire + behind), MPI_BYTE, rp_ft.process_of[to],
                             TAG_HEADER, rp_ft.world, &entry->real[0])))
        entry->real[0] = MPI_REQUEST_NULL;
    if (wire->bytes > RP_FT_INLINE && !shares)
        send_payload(wire, payload ? payload : payload_of(entry), to, &entry->real[1]);
    note_under_way(entry);
}

void rp_ft_transmit_payload(struct rp_ft_entry *entry, int to, uint32_t flags)
{
    entry->wire.flags = (entry->wire.flags & RP_FT_SYNC) | flags;
    entry->real[0] = entry->real[1] = MPI_REQUEST_NULL;
    send_payload(&entry->wire, payload_of(entry), to, &entry->real[1]);
    note_under_way(entry);
}

static void control_with(struct rp_ft_wire wire, int to, const void *payload)
{
    struct control *control = rp_ft_alloc(sizeof *control);

    control->wire = wire;
    control->wire.from = rp_ft.rank;
    control->real[0] = control->real[1] = MPI_REQUEST_NULL;
    if (!check(rp_real.Isend(&control->wire, (int)sizeof control->wire, MPI_BYTE,
                             rp_ft.process_of[to], TAG_HEADER, rp_ft.world, &control->real[0])))
        control->real[0] = MPI_REQUEST_NULL;
    if (wire.bytes > 0)
        send_payload(&control->wire, payload, to, &control->real[1]);
    control->next = controls;
    controls = control;
}

void rp_ft_control(enum rp_ft_kind kind, int to, uint64_t seq, const void *payload, size_t bytes)
{
    control_with((struct rp_ft_wire){.kind = kind, .seq = seq, .bytes = bytes}, to, payload);
}

void rp_ft_control_with(struct rp_ft_wire wire, int to)
{
    control_with(wire, to, NULL);
}

static void expect(const struct rp_ft_wire *wire)
{
    struct incoming *one = rp_ft_alloc(sizeof *one);

    one->wire = *wire;
    if (!check(rp_real.Irecv(rp_ft_copy_expect(wire->from, wire->bytes), (int)wire->bytes, MPI_BYTE,
                             rp_ft.process_of[wire->from], rp_ft_payload_tag(wire), rp_ft.world,
                             &one->real)))
        one->real = MPI_REQUEST_NULL;
    one->next = incoming;
    incoming = one;
}

static struct rp_ft_entry *find_sent(int to, uint64_t seq)
{
    struct rp_ft_log *log = &rp_ft_channels[to].log;
    struct rp_ft_entry *lists[] = {log->setup_first, log->first};

    for (int i = 0; i < 2; i++)
        for (struct rp_ft_entry *entry = lists[i]; entry; entry = entry->next)
            if (entry->wire.seq == seq)
                return entry;
    return NULL;
}

static void mark_matched(int from, uint64_t seq)
{
    struct rp_ft_entry *entry = find_sent(from, seq);

    if (entry) {
        entry->matched = true;
        rp_ft_entry_done(entry);
    }
}

/* The receiver cannot read it in the log. */
static void send_declined(int to, uint64_t seq, uint32_t setup)
{
    struct rp_ft_entry *entry = find_sent(to, seq);

    rp_ft_share_declined(to);
    if (!entry)
        rp_bug(__FILE__, __LINE__, "a message that was declined is not in the log");
    entry->wire.flags &= ~(uint32_t)RP_FT_SHARED;
    if (entry->under_way)
        send_payload(&entry->wire, payload_of(entry), to, &entry->real[1]);
    else
        rp_ft_transmit_payload(entry, to, setup);
}

static void handle(const struct rp_ft_wire *wire, const void *payload)
{
    switch (wire->kind) {
    case RP_FT_DATA:
        rp_ft_arrive(wire,
                     wire->bytes <= RP_FT_INLINE && !(wire->flags & RP_FT_SHARED) ? payload : NULL);
        break;
    case RP_FT_CHECKPOINT:
        expect(wire);
        break;
    case RP_FT_STORED:
        rp_ft_copy_stored(wire->from, (int64_t)wire->seq);
        break;
    case RP_FT_SAFE:
        rp_ft_checkpoint_safe(wire->from, (int64_t)wire->seq);
        break;
    case RP_FT_MATCHED:
        mark_matched(wire->from, wire->seq);
        break;
    case RP_FT_ASK_MATCHED:
        rp_ft_asked(wire->from, wire->seq);
        break;
    case RP_FT_OFFER:
        rp_ft_share_offered(wire);
        break;
    case RP_FT_DECLINE:
        send_declined(wire->from, wire->seq, wire->flags & RP_FT_SETUP);
        break;
    case RP_FT_ACCEPT:
        rp_ft_share_accepted(wire->from);
        break;
    default:
        rp_bug(__FILE__, __LINE__, "a message of unknown kind");
    }
}

static void take_headers(void)
{
    int done = 1;

    while (!rp_ft.broken) {
        struct slot *slot = &ring[head];
        if (slot->real == MPI_REQUEST_NULL ||
            !check(rp_real.Test(&slot->real, &done, MPI_STATUS_IGNORE)) || !done)
            break;
        handle(&slot->wire, slot->payload);
        post(slot);
        head = (head + 1) % RING;
    }
}

static void finish_sends(void)
{
    for (struct rp_ft_entry **link = &under_way; *link;) {
        struct rp_ft_entry *entry = *link;
        if (is_finished(entry->real)) {
            *link = entry->next_under_way;
            left(entry);
        } else {
            link = &entry->next_under_way;
        }
    }
    for (struct control **link = &controls; *link;) {
        struct control *control = *link;
        if (is_finished(control->real)) {
            *link = control->next;
            free(control);
        } else {
            link = &control->next;
        }
    }
}

static void take_incoming(void)
{
    for (struct incoming **link = &incoming; *link;) {
        struct incoming *one = *link;
        int done = 0;
        if (one->real == MPI_REQUEST_NULL ||
            !check(rp_real.Test(&one->real, &done, MPI_STATUS_IGNORE)) || !done) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        rp_ft_copy_arrived(one->wire.from, (int64_t)one->wire.seq);
        free(one);
    }
}

void rp_ft_progress(void)
{
    take_headers();
    if (under_way || controls)
        finish_sends();
    if (incoming)
        take_incoming();
    rp_ft_payloads_progress();
    rp_ft_coroutines_step();
    if (rp_ft.broken)
        rp_ft_recover();
}

void rp_ft_pause(void)
{
    if (rp_ft_inside_coroutine())
        rp_ft_yield();
    else
        rp_ft_progress();
}

/*
 * All who live have left the old world, which is revoked: its requests end by themselves. But MPI
 * does not end a message that is matched and half copied: between the living it is worth waiting
 * for, since the rest of it would be copied later, to where something else may be then; of the dead
 * nothing more comes. Such a request is left behind, and its memory with it.
 */
static double closing_since;

bool rp_ft_end_request(MPI_Request *real, int peer)
{
    static const double patience = 0.02, much = 10;
    int done = 0;

    while (*real != MPI_REQUEST_NULL && !done) {
        if (rp_real.Test(real, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            break;
        double waited = rp_ft_now() - closing_since;
        if (!done && waited > patience &&
            (peer < 0 || waited > much || rp_ulfm_has_failed(rp_ft.world, peer))) {
            rp_real.Cancel(real);
            rp_real.Request_free(real);
            return false;
        }
    }
    *real = MPI_REQUEST_NULL;
    return true;
}

static bool end_both(MPI_Request real[2])
{
    bool first = rp_ft_end_request(&real[0], -1);

    return rp_ft_end_request(&real[1], -1) && first;
}

void rp_ft_wire_close(void)
{
    bool all = true;

    is_open = false;
    closing_since = rp_ft_now();
    for (unsigned i = 0; ring && i < RING; i++)
        all &= rp_ft_end_request(&ring[i].real, -1);
    if (!all)
        ring = NULL;
    for (; under_way; under_way = under_way->next_under_way) {
        if (!end_both(under_way->real)) {
            rp_ft_log_pin(under_way);
            under_way->whole = NULL;
        }
        left(under_way);
    }
    while (controls) {
        struct control *control = controls;
        controls = control->next;
        if (end_both(control->real))
            free(control);
    }
    while (incoming) {
        struct incoming *one = incoming;
        incoming = one->next;
        if (!rp_ft_end_request(&one->real, rp_ft.process_of[one->wire.from]))
            rp_ft_copy_expect_no_more(one->wire.from);
        free(one);
    }
    rp_ft_payloads_fail();
}
