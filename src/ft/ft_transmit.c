/* SPDX-License-Identifier: MIT */
/*
 * Messages of the program leave from the log: the envelope with a short payload behind it; the
 * envelope alone, if the receiver reads the payload in the log; or both, one after the other. A
 * payload that the receiver turns out not to be able to read is sent by itself.
 */
#include "ft/ft_transmit.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/diagnostics.h"
#include "ft/ft_channels.h"
#include "ft/ft_compression.h"
#include "ft/ft_request.h"
#include "ft/ft_share.h"
#include "ft/ft_transport.h"

static struct {
    struct rp_ft_entry *under_way;
} sends;

/* A send has left, unless it waits for its match. */
static void left(struct rp_ft_entry *entry)
{
    entry->under_way = false;
    free(entry->whole);
    entry->whole = NULL;
    if (!(entry->envelope.flags & RP_FT_SYNC))
        rp_ft_entry_done(entry);
}

static void note_under_way(struct rp_ft_entry *entry)
{
    entry->under_way = !rp_ft_transport_has_sent(entry->real);
    if (entry->under_way) {
        entry->next_under_way = sends.under_way;
        sends.under_way = entry;
    } else {
        left(entry);
    }
}

static const void *payload_of(struct rp_ft_entry *entry)
{
    if (entry->stored == entry->envelope.bytes)
        return rp_ft_entry_payload(entry);
    entry->whole =
        rp_ft_decompress(rp_ft_entry_payload(entry), entry->stored, entry->envelope.bytes);
    return entry->whole;
}

void rp_ft_transmit(struct rp_ft_entry *entry, int to, uint32_t flags, const void *payload)
{
    struct rp_ft_envelope *envelope = &entry->envelope;
    bool shares = rp_ft_share_with(to, entry);
    size_t behind = envelope->bytes <= RP_FT_INLINE && !shares ? envelope->bytes : 0;

    if (!rp_ft_transport_is_open())
        return;
    envelope->flags = (envelope->flags & RP_FT_SYNC) | flags | (shares ? RP_FT_SHARED : 0);
    envelope->place = shares ? rp_ft_log_place(entry) : 0;
    entry->taken = false;
    if (envelope->bytes >= RP_FT_SHARED_FROM)
        rp_ft_share_offer(to);
    atomic_thread_fence(memory_order_release);
    entry->real[1] = MPI_REQUEST_NULL;
    rp_ft_transport_send(envelope, behind, to, &entry->real[0]);
    if (envelope->bytes > RP_FT_INLINE && !shares)
        rp_ft_transport_send_payload(envelope, payload ? payload : payload_of(entry), to,
                                     &entry->real[1]);
    note_under_way(entry);
}

void rp_ft_transmit_payload(struct rp_ft_entry *entry, int to, uint32_t flags)
{
    entry->envelope.flags = (entry->envelope.flags & RP_FT_SYNC) | flags;
    entry->real[0] = entry->real[1] = MPI_REQUEST_NULL;
    rp_ft_transport_send_payload(&entry->envelope, payload_of(entry), to, &entry->real[1]);
    note_under_way(entry);
}

static void mark_matched(const struct rp_ft_envelope *by, const void *payload)
{
    struct rp_ft_entry *entry = rp_ft_channel_find_sent(by->from, by->seq);

    (void)payload;
    if (entry) {
        entry->matched = true;
        rp_ft_entry_done(entry);
    }
}

/* The receiver cannot read it in the log. */
static void send_declined(const struct rp_ft_envelope *by, const void *payload)
{
    struct rp_ft_entry *entry = rp_ft_channel_find_sent(by->from, by->seq);

    (void)payload;
    rp_ft_share_end(by->from);
    if (!entry)
        rp_bug(__FILE__, __LINE__, "a message that was declined is not in the log");
    entry->envelope.flags &= ~(uint32_t)RP_FT_SHARED;
    if (entry->under_way)
        rp_ft_transport_send_payload(&entry->envelope, payload_of(entry), by->from,
                                     &entry->real[1]);
    else
        rp_ft_transmit_payload(entry, by->from, by->flags & RP_FT_SETUP);
}

void rp_ft_transmit_start(void)
{
    rp_ft_transport_handle(RP_FT_MATCHED, mark_matched);
    rp_ft_transport_handle(RP_FT_DECLINE, send_declined);
}

void rp_ft_transmit_progress(void)
{
    for (struct rp_ft_entry **link = &sends.under_way; *link;) {
        struct rp_ft_entry *entry = *link;
        if (rp_ft_transport_has_sent(entry->real)) {
            *link = entry->next_under_way;
            left(entry);
        } else {
            link = &entry->next_under_way;
        }
    }
}

void rp_ft_transmit_close(void)
{
    for (; sends.under_way; sends.under_way = sends.under_way->next_under_way) {
        struct rp_ft_entry *entry = sends.under_way;
        if (!rp_ft_transport_end_both(entry->real)) {
            rp_ft_log_pin(entry);
            entry->whole = NULL;
        }
        left(entry);
    }
}
