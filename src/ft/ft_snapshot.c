/* SPDX-License-Identifier: MIT */
/*
 * A checkpoint in memory: a header; then, for each rank, the counters of its channel; for each
 * communicator how many collectives it had; the messages; and the protected state. Only the process
 * that wrote it, or another one of the same program, reads it.
 */
#include "ft/ft_snapshot.h"

#include <string.h>

#include "base/buffer.h"
#include "base/diagnostics.h"
#include "ft/ft_abort.h"
#include "ft/ft_channels.h"
#include "ft/ft_comms.h"
#include "ft/ft_match.h"
#include "ft/ft_protected.h"
#include "ft/ft_state.h"
#include "reprise.h"

struct header {
    int64_t generation, iteration;
    int32_t next_context, ranks;
    uint32_t comms, messages;
    uint32_t protected;
    uint8_t has_chosen, is_last, is_settled, unused; /* last: taken when the loop was left */
    int64_t interval;
    uint64_t protected_at; /* where its part begins */
};

struct channel_part {
    uint64_t sent, setup_sent, arrived;
};

struct comm_part {
    int32_t context;
    uint32_t collectives;
};

static uint32_t put_comms(struct rp_buffer *out)
{
    uint32_t count = 0;

    for (int32_t context = 0; context < rp_ft_next_context(); context += RP_FT_CONTEXTS_A_COMM) {
        struct rp_ft_comm *comm = rp_ft_comm_by_context(context);
        if (!comm)
            continue;
        struct comm_part part = {context, comm->collectives};
        rp_buffer_put(out, &part, sizeof part);
        count++;
    }
    return count;
}

static bool is_before_marker(const struct rp_ft_envelope *envelope, const uint64_t *markers)
{
    return envelope->from == rp_ft.rank || envelope->seq < markers[envelope->from];
}

static uint32_t put_messages(struct rp_buffer *out, const uint64_t *markers)
{
    uint32_t count = 0;

    for (int32_t i = 0; i < rp_ft_context_count(); i++)
        for (struct rp_ft_message *message = rp_ft_context(i)->unexpected; message;
             message = message->next) {
            uint64_t has_payload = message->has_payload;
            if (!is_before_marker(&message->envelope, markers))
                continue;
            rp_buffer_put(out, &message->envelope, sizeof message->envelope);
            rp_buffer_put(out, &has_payload, sizeof has_payload);
            if (has_payload)
                rp_buffer_put(out, rp_ft_message_payload(message), message->envelope.bytes);
            count++;
        }
    return count;
}

static void put_channels(struct rp_buffer *out, const uint64_t *markers)
{
    for (int i = 0; i < rp_ft.ranks; i++) {
        const struct rp_ft_channel *channel = &rp_ft_channels[i];
        struct channel_part part = {channel->sent, channel->setup_sent, markers[i]};
        rp_buffer_put(out, &part, sizeof part);
    }
}

/* The memory of the generation that is replaced is used again. */
void rp_ft_snapshot_take(const struct rp_ft_snapshot *snapshot, const uint64_t *markers)
{
    struct rp_ft_checkpoint *slot = rp_ft_checkpoint_slot(rp_ft_own, snapshot->generation);
    struct rp_buffer out = {.bytes = slot->blob, .room = slot->bytes};
    struct header header = {.generation = snapshot->generation,
                            .iteration = snapshot->iteration,
                            .next_context = rp_ft_next_context(),
                            .ranks = rp_ft.ranks,
                            .interval = snapshot->interval,
                            .has_chosen = snapshot->has_chosen,
                            .is_last = snapshot->is_last,
                            .is_settled = snapshot->is_settled};

    slot->blob = NULL;
    rp_buffer_put(&out, &header, sizeof header);
    put_channels(&out, markers);
    header.comms = put_comms(&out);
    header.messages = put_messages(&out, markers);
    header.protected_at = out.length;
    header.protected = rp_ft_protected_put(&out);
    if (out.failed)
        rp_ft_die(REPRISE_EXIT_INTERNAL, "out of memory for a checkpoint of %zu bytes", out.length);
    memcpy(out.bytes, &header, sizeof header);
    slot->blob = out.bytes;
    slot->bytes = out.length;
    slot->generation = snapshot->generation;
}

static struct header header_of(const struct rp_ft_checkpoint *one)
{
    struct header header;

    if (!one || one->bytes < sizeof header)
        rp_bug(__FILE__, __LINE__, "a checkpoint that is not there");
    memcpy(&header, one->blob, sizeof header);
    return header;
}

static struct rp_ft_snapshot described(const struct header *header)
{
    return (struct rp_ft_snapshot){.generation = header->generation,
                                   .iteration = header->iteration,
                                   .interval = (long)header->interval,
                                   .has_chosen = header->has_chosen,
                                   .is_last = header->is_last,
                                   .is_settled = header->is_settled};
}

static struct channel_part channel_part_of(const struct rp_ft_checkpoint *one, int rank)
{
    struct channel_part part;

    memcpy(&part, one->blob + sizeof(struct header) + (size_t)rank * sizeof part, sizeof part);
    return part;
}

void rp_ft_snapshot_restore_channels(const struct rp_ft_checkpoint *one)
{
    struct header header = header_of(one);
    for (int i = 0; i < header.ranks; i++) {
        struct rp_ft_channel *channel = &rp_ft_channels[i];
        struct channel_part part = channel_part_of(one, i);
        rp_ft_log_unshare(&channel->log);
        rp_ft_log_release(&channel->log, UINT64_MAX);
        channel->log.first_seq = channel->sent = part.sent;
        channel->setup_sent = part.setup_sent;
        channel->arrived = part.arrived;
    }
}

void rp_ft_snapshot_release_logs(const struct rp_ft_checkpoint *one)
{
    for (int i = 0; i < rp_ft.ranks; i++)
        rp_ft_log_release(&rp_ft_channels[i].log, channel_part_of(one, i).sent);
}

static const uint8_t *comms_of(const struct rp_ft_checkpoint *one, const struct header *header)
{
    return one->blob + sizeof *header + (size_t)header->ranks * sizeof(struct channel_part);
}

static const uint8_t *restore_comms(const uint8_t *at, const struct header *header)
{
    for (uint32_t i = 0; i < header->comms; i++, at += sizeof(struct comm_part)) {
        struct comm_part part;
        memcpy(&part, at, sizeof part);
        struct rp_ft_comm *comm = rp_ft_comm_by_context(part.context);
        if (!comm)
            rp_ft_die(REPRISE_EXIT_INTERNAL,
                      "a communicator of the checkpoint is not there: the setup of the program, "
                      "before its loop, did something else this time");
        comm->collectives = part.collectives;
    }
    rp_ft_set_next_context(header->next_context);
    return at;
}

/* Messages of this rank to itself are sent again by the program only if they follow the marker.
 */
static const uint8_t *restore_messages(const uint8_t *at, const struct header *header)
{
    for (uint32_t i = 0; i < header->messages; i++) {
        struct rp_ft_envelope envelope;
        uint64_t has_payload;
        memcpy(&envelope, at, sizeof envelope);
        memcpy(&has_payload, at + sizeof envelope, sizeof has_payload);
        at += sizeof envelope + sizeof has_payload;
        rp_ft_match_restore(&envelope, has_payload ? at : NULL);
        at += has_payload ? envelope.bytes : 0;
    }
    return at;
}

struct rp_ft_snapshot rp_ft_snapshot_restore(const struct rp_ft_checkpoint *one)
{
    struct header header = header_of(one);
    const uint8_t *messages = restore_comms(comms_of(one, &header), &header);

    rp_ft_protected_restore(restore_messages(messages, &header), header.protected);
    return described(&header);
}

struct rp_ft_snapshot rp_ft_snapshot_restore_program(const struct rp_ft_checkpoint *one)
{
    struct header header = header_of(one);

    restore_messages(comms_of(one, &header) + header.comms * sizeof(struct comm_part), &header);
    rp_ft_protected_restore(one->blob + header.protected_at, header.protected);
    return described(&header);
}

const uint8_t *rp_ft_snapshot_protected(const struct rp_ft_checkpoint *one)
{
    return one->blob + header_of(one).protected_at;
}
