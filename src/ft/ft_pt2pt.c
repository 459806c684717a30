/* SPDX-License-Identifier: MIT */
/*
 * Sending and receiving. A send copies its payload into the log and sends it from there; the
 * receiver reads it there, if it can (ft_share.c). Else a long one goes from the program's buffer
 * where that stays until the send is done, since it is nearer. What the receiver is known to have
 * is only logged: a rank that recovers sends it a second time.
 */
#include "ft/ft_pt2pt.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/device_memory.h"
#include "ft/ft_abort.h"
#include "ft/ft_channels.h"
#include "ft/ft_compression.h"
#include "ft/ft_coroutines.h"
#include "ft/ft_determinants.h"
#include "ft/ft_events.h"
#include "ft/ft_match.h"
#include "ft/ft_progress.h"
#include "ft/ft_share.h"
#include "ft/ft_state.h"
#include "ft/ft_transmit.h"
#include "ft/ft_transport.h"
#include "ft/ft_types.h"

static bool is_among(const uint64_t *sorted, size_t count, uint64_t seq)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sorted[middle] < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && sorted[low] == seq;
}

/* Past the caches, where the processor can do that: no one reads it soon. */
static void store_away(void *to, const void *from, size_t bytes)
{
#ifdef __SSE2__
    size_t head = -(uintptr_t)to % sizeof(__m128i);
    __m128i *line = (__m128i *)((char *)to + head);
    const char *rest = (const char *)from + head;

    memcpy(to, from, head);
    for (bytes -= head; bytes >= sizeof *line; bytes -= sizeof *line, rest += sizeof *line)
        _mm_stream_si128(line++, _mm_loadu_si128((const __m128i *)rest));
    _mm_sfence();
    memcpy(line, rest, bytes);
#else
    memcpy(to, from, bytes);
#endif
}

/* To this rank itself: nothing travels, and nothing needs to be logged. */
static void send_here(const struct rp_ft_envelope *envelope, struct rp_ft_channel *channel,
                      const void *buffer, int count, MPI_Datatype type)
{
    void *payload = rp_ft_alloc(envelope->bytes);

    ++*(rp_ft.repeats_setup ? &channel->setup_again : &channel->sent);
    rp_ft_pack(buffer, count, type, payload, envelope->bytes);
    rp_ft_arrive(envelope, payload);
    free(payload);
}

/* The receiver has the message, but perhaps not its payload, and perhaps it has not matched it yet.
 */
static void suppress_or_send_payload(struct rp_ft_entry *entry, const struct rp_ft_channel *channel,
                                     int to)
{
    if (entry->envelope.flags & RP_FT_SYNC)
        rp_ft_control(RP_FT_ASK_MATCHED, to, entry->envelope.seq, NULL, 0);
    else
        rp_ft_entry_done(entry);
    if (is_among(channel->wanted, channel->wanted_count, entry->envelope.seq))
        rp_ft_transmit_payload(entry, to, 0);
    rp_ft_event_repeated();
}

/* Only a rank that repeats its setup as well needs it. */
static void send_setup_again(struct rp_ft_entry *entry, struct rp_ft_channel *channel, int to)
{
    channel->setup_again++;
    entry->matched = true;
    if (entry->envelope.seq >= channel->setup_wanted)
        rp_ft_transmit(entry, to, RP_FT_SETUP, NULL);
    else if (is_among(channel->wanted_setup, channel->wanted_setup_count, entry->envelope.seq))
        rp_ft_transmit_payload(entry, to, RP_FT_SETUP);
    rp_ft_entry_done(entry);
}

static void wait_for_turn(void)
{
    uint32_t who = rp_ft_coroutine_number();

    RP_FT_WAIT_UNTIL(rp_ft_turn_is(who));
    rp_ft_turn_take(who);
}

void rp_ft_send(struct rp_ft_comm *comm, int32_t context, int to, int tag, const void *buffer,
                int count, MPI_Datatype type, uint32_t flags, struct rp_ft_request *request)
{
    int rank = rp_ft_world_rank(comm, to);
    size_t size;
    struct rp_ft_channel *channel = &rp_ft_channels[rank];

    wait_for_turn();
    struct rp_ft_envelope envelope = {.kind = RP_FT_DATA,
                                      .flags = flags & RP_FT_SYNC,
                                      .context = context,
                                      .source = comm->rank,
                                      .tag = tag,
                                      .from = rp_ft.rank,
                                      .seq = rp_ft.repeats_setup ? channel->setup_again
                                                                 : channel->sent,
                                      .bytes = rp_ft_size(count, type)};

    if (rank == rp_ft.rank) {
        send_here(&envelope, channel, buffer, count, type);
        if (request)
            request->done = true;
        return;
    }
    size_t compressed;
    const void *compressed_bytes =
        rp_ft_compresses() && envelope.bytes > RP_FT_INLINE
            ? rp_ft_compress(buffer, count, type, envelope.bytes, &compressed)
            : NULL;
    struct rp_ft_entry *entry =
        rp_ft_log_append(&channel->log, compressed_bytes ? compressed : envelope.bytes,
                         rp_ft.repeats_setup);
    entry->envelope = envelope;
    bool from_buffer = flags & RP_FT_STABLE_BUFFER && envelope.bytes > RP_FT_INLINE &&
                       rp_ft_is_plain(type, &size) && !rp_ft_share_with(rank, entry) &&
                       !rp_is_device(buffer);
    if (compressed_bytes)
        memcpy(rp_ft_entry_payload(entry), compressed_bytes, compressed);
    else if (from_buffer)
        store_away(rp_ft_entry_payload(entry), buffer, envelope.bytes);
    else
        rp_ft_pack(buffer, count, type, rp_ft_entry_payload(entry), envelope.bytes);
    if (request) {
        request->entry = entry;
        entry->request = request;
    }
    if (rp_ft.repeats_setup) {
        send_setup_again(entry, channel, rank);
        return;
    }
    channel->sent++;
    if (envelope.seq >= channel->peer_has)
        rp_ft_transmit(entry, rank, 0, from_buffer ? buffer : NULL);
    else
        suppress_or_send_payload(entry, channel, rank);
    rp_ft_channels_cap();
}

struct rp_ft_request *rp_ft_receive(struct rp_ft_comm *comm, int32_t context, int from, int tag,
                                    void *buffer, int count, MPI_Datatype type)
{
    struct rp_ft_request *request = rp_ft_request_new(RP_FT_RECEIVE, comm);

    request->context = context;
    request->peer = from;
    request->tag = tag;
    request->buffer = buffer;
    request->count = count;
    request->type = rp_ft_type_keep(type, &request->owns_type);
    request->active = true;
    if (from == MPI_ANY_SOURCE)
        rp_ft_determinant_get(request);
    rp_ft_post(request);
    return request;
}

int rp_ft_finish(struct rp_ft_request *request)
{
    RP_FT_WAIT_UNTIL(rp_ft_request_done(request));
    int error = request->status.MPI_ERROR;
    rp_ft_request_free(request);
    return error;
}

/* The message stays in its place meanwhile: nobody receives while a checkpoint is taken. */
static void pull(struct rp_ft_message **link)
{
    struct rp_ft_message *message = *link;
    uint8_t *payload = rp_ft_alloc(message->envelope.bytes);
    struct rp_ft_request *request = rp_ft_request_new(RP_FT_RECEIVE, NULL);

    request->taken = message->envelope;
    request->buffer = payload;
    request->count = (int)message->envelope.bytes;
    request->type = MPI_BYTE;
    request->active = true;
    rp_ft_payload_get(request);
    rp_ft_finish(request);
    *link = rp_ft_message_new(&message->envelope, payload);
    (*link)->next = message->next;
    free(message);
    free(payload);
}

void rp_ft_pull_payloads(void)
{
    for (int32_t i = 0; i < rp_ft_context_count(); i++) {
        struct rp_ft_context *context = rp_ft_context(i);
        struct rp_ft_message **link = &context->unexpected;
        for (; *link; link = &(*link)->next)
            if (!(*link)->has_payload && (*link)->envelope.bytes > 0)
                pull(link);
        context->unexpected_end = link;
    }
}
