/* SPDX-License-Identifier: MIT */
/*
 * The transport. Envelopes, each with a short payload behind it, are received from any source into
 * a ring of buffers that are always posted. Every failure completes such a receive with an error,
 * whatever the program waits for. A long payload is sent right behind its envelope, by a tag that
 * follows from its number, and is received in place once the envelope has been handled.
 */
#include "ft/ft_transport.h"

#include <stdlib.h>

#include "base/diagnostics.h"
#include "ft/ft_abort.h"
#include "ft/ft_ulfm.h"
#include "reprise.h"

enum {
    RING = 32,
    TAG_ENVELOPE = 1,
    TAG_PAYLOAD = 1 << 22, /* and the number, modulo PAYLOADS */
    TAG_SETUP_PAYLOAD = 1 << 23,
    TAG_CONTROL = 1 << 24,
    PAYLOADS = 1 << 20,
};

struct slot {
    MPI_Request real;
    struct rp_ft_envelope envelope; /* with the payload behind */
    uint8_t payload[RP_FT_INLINE];
};

struct control {
    struct control *next;
    MPI_Request real[2];
    struct rp_ft_envelope envelope;
};

/* A long payload of a message of the library's own, on its way in. */
struct incoming {
    struct incoming *next;
    MPI_Request real;
    struct rp_ft_envelope envelope;
    void (*arrived)(const struct rp_ft_envelope *);
    void (*lost)(const struct rp_ft_envelope *);
};

static struct {
    bool is_open;
    struct slot *ring;
    unsigned head;
    struct control *controls;
    struct incoming *incoming;
    rp_ft_handler *handler[RP_FT_KINDS];
    double closing_since;
} transport;

void rp_ft_transport_handle(enum rp_ft_kind kind, rp_ft_handler *handler)
{
    transport.handler[kind] = handler;
}

static void post(struct slot *slot)
{
    if (!rp_ft_check(rp_real.Irecv(&slot->envelope,
                                   (int)(sizeof slot->envelope + sizeof slot->payload), MPI_BYTE,
                                   MPI_ANY_SOURCE, TAG_ENVELOPE, rp_ft.world, &slot->real)))
        slot->real = MPI_REQUEST_NULL;
}

void rp_ft_transport_open(void)
{
    if (!transport.ring)
        transport.ring = rp_ft_alloc(RING * sizeof *transport.ring);
    transport.head = 0;
    transport.is_open = true;
    for (unsigned i = 0; i < RING; i++)
        post(&transport.ring[i]);
}

bool rp_ft_transport_is_open(void)
{
    return transport.is_open;
}

static int payload_tag(const struct rp_ft_envelope *envelope)
{
    if (envelope->kind != RP_FT_DATA)
        return TAG_CONTROL + (int)envelope->kind;
    return (envelope->flags & RP_FT_SETUP ? TAG_SETUP_PAYLOAD : TAG_PAYLOAD) +
           (int)(envelope->seq % PAYLOADS);
}

void rp_ft_transport_send(const struct rp_ft_envelope *envelope, size_t behind, int to,
                          MPI_Request *real)
{
    if (!rp_ft_check(rp_real.Isend(envelope, (int)(sizeof *envelope + behind), MPI_BYTE,
                                   rp_ft.process_of[to], TAG_ENVELOPE, rp_ft.world, real)))
        *real = MPI_REQUEST_NULL;
}

void rp_ft_transport_send_payload(const struct rp_ft_envelope *envelope, const void *payload,
                                  int to, MPI_Request *real)
{
    if (envelope->bytes > INT32_MAX)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "%s: a message of %llu bytes is longer than reprise ft can send", rp_ft.call,
                  (unsigned long long)envelope->bytes);
    if (!rp_ft_check(rp_real.Isend(payload, (int)envelope->bytes, MPI_BYTE, rp_ft.process_of[to],
                                   payload_tag(envelope), rp_ft.world, real)))
        *real = MPI_REQUEST_NULL;
}

void rp_ft_transport_receive_payload(const struct rp_ft_envelope *envelope, void *memory,
                                     MPI_Request *real)
{
    if (!rp_ft_check(rp_real.Irecv(memory, (int)envelope->bytes, MPI_BYTE,
                                   rp_ft.process_of[envelope->from], payload_tag(envelope),
                                   rp_ft.world, real)))
        *real = MPI_REQUEST_NULL;
}

bool rp_ft_transport_has_sent(MPI_Request real[2])
{
    int done = 1;

    for (int i = 0; i < 2; i++)
        if (real[i] != MPI_REQUEST_NULL &&
            (!rp_ft_check(rp_real.Test(&real[i], &done, MPI_STATUS_IGNORE)) || !done))
            return false;
    return true;
}

static void control_with(struct rp_ft_envelope envelope, int to, const void *payload)
{
    struct control *control = rp_ft_alloc(sizeof *control);

    control->envelope = envelope;
    control->envelope.from = rp_ft.rank;
    control->real[1] = MPI_REQUEST_NULL;
    rp_ft_transport_send(&control->envelope, 0, to, &control->real[0]);
    if (envelope.bytes > 0)
        rp_ft_transport_send_payload(&control->envelope, payload, to, &control->real[1]);
    control->next = transport.controls;
    transport.controls = control;
}

void rp_ft_control(enum rp_ft_kind kind, int to, uint64_t seq, const void *payload, size_t bytes)
{
    control_with((struct rp_ft_envelope){.kind = kind, .seq = seq, .bytes = bytes}, to, payload);
}

void rp_ft_control_with(struct rp_ft_envelope envelope, int to)
{
    control_with(envelope, to, NULL);
}

void rp_ft_control_receive(const struct rp_ft_envelope *envelope, void *memory,
                           void (*arrived)(const struct rp_ft_envelope *),
                           void (*lost)(const struct rp_ft_envelope *))
{
    struct incoming *one = rp_ft_alloc(sizeof *one);

    *one = (struct incoming){transport.incoming, MPI_REQUEST_NULL, *envelope, arrived, lost};
    rp_ft_transport_receive_payload(envelope, memory, &one->real);
    transport.incoming = one;
}

static void handle(const struct slot *slot)
{
    uint32_t kind = slot->envelope.kind;

    if (kind >= RP_FT_KINDS || !transport.handler[kind])
        rp_bug(__FILE__, __LINE__, "a message of unknown kind");
    transport.handler[kind](&slot->envelope, slot->payload);
}

static void receive_envelopes(void)
{
    int done = 1;

    while (!rp_ft.broken) {
        struct slot *slot = &transport.ring[transport.head];
        if (slot->real == MPI_REQUEST_NULL ||
            !rp_ft_check(rp_real.Test(&slot->real, &done, MPI_STATUS_IGNORE)) || !done)
            break;
        handle(slot);
        post(slot);
        transport.head = (transport.head + 1) % RING;
    }
}

static void finish_controls(void)
{
    for (struct control **link = &transport.controls; *link;) {
        struct control *control = *link;
        if (rp_ft_transport_has_sent(control->real)) {
            *link = control->next;
            free(control);
        } else {
            link = &control->next;
        }
    }
}

static void take_incoming(void)
{
    for (struct incoming **link = &transport.incoming; *link;) {
        struct incoming *one = *link;
        int done = 0;
        if (one->real == MPI_REQUEST_NULL ||
            !rp_ft_check(rp_real.Test(&one->real, &done, MPI_STATUS_IGNORE)) || !done) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        one->arrived(&one->envelope);
        free(one);
    }
}

void rp_ft_transport_progress(void)
{
    receive_envelopes();
    finish_controls();
    take_incoming();
}

/*
 * All who live have left the old world, which is revoked: its requests end by themselves. But MPI
 * does not end a message that is matched and half copied. Between the living it is worth waiting
 * for it, since the remainder would be copied later, to where something else may be then. Of the
 * dead nothing more comes. Such a request is left behind, and its memory with it.
 */
bool rp_ft_transport_end_request(MPI_Request *real, int peer)
{
    static const double patience = 0.02, much = 10;
    int done = 0;

    while (*real != MPI_REQUEST_NULL && !done) {
        if (rp_real.Test(real, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            break;
        double waited = rp_ft_now() - transport.closing_since;
        if (!done && waited > patience &&
            (peer < 0 || waited > much || rp_ft_has_failed(rp_ft.world, peer))) {
            rp_real.Cancel(real);
            rp_real.Request_free(real);
            return false;
        }
    }
    *real = MPI_REQUEST_NULL;
    return true;
}

bool rp_ft_transport_end_both(MPI_Request real[2])
{
    bool first = rp_ft_transport_end_request(&real[0], -1);

    return rp_ft_transport_end_request(&real[1], -1) && first;
}

static void end_ring(void)
{
    bool all = true;

    for (unsigned i = 0; transport.ring && i < RING; i++)
        all &= rp_ft_transport_end_request(&transport.ring[i].real, -1);
    if (!all)
        transport.ring = NULL;
}

void rp_ft_transport_close(void)
{
    transport.is_open = false;
    transport.closing_since = rp_ft_now();
    end_ring();
    while (transport.controls) {
        struct control *control = transport.controls;
        transport.controls = control->next;
        if (rp_ft_transport_end_both(control->real))
            free(control);
    }
    while (transport.incoming) {
        struct incoming *one = transport.incoming;
        transport.incoming = one->next;
        if (!rp_ft_transport_end_request(&one->real, rp_ft.process_of[one->envelope.from]))
            one->lost(&one->envelope);
        free(one);
    }
}
