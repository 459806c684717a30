/* SPDX-License-Identifier: MIT */
/*
 * At the end, each rank has the messages that were sent to it and that no receive took. It puts
 * them into words, and rank 0 prints them. Messages from other hosts may still be on their way
 * then: how many there must be is asked by MPI.
 */
#include "det/det_unreceived.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diagnostics.h"
#include "det/det_matching.h"
#include "det/det_sites.h"
#include "preload/constants.h"

enum { FEW = 5, WORDS = 256 };

/* Messages that are alike. */
struct kind {
    uint64_t messages;
    char words[WORDS];
};

struct unreceived {
    uint64_t messages, count; /* of all kinds; kinds that are described */
    struct kind kinds[FEW];
};

static uint64_t *sent; /* by rank; between hosts */

void rp_det_count_sent(uint32_t dest)
{
    if (__builtin_expect(!rp_shared.host_of, 1))
        return;
    if (!sent)
        sent = calloc(rp_shared.ranks, sizeof *sent);
    if (sent)
        sent[dest]++;
}

/* Waits until all messages have arrived, but not for hosts that died. */
static void await_messages(void)
{
    enum { ROUNDS = 5000 };
    struct timespec pause = {0, 1000000};
    uint64_t *all = calloc(rp_shared.ranks, sizeof *all);

    if (!all || (!sent && !(sent = calloc(rp_shared.ranks, sizeof *sent))))
        rp_bug(__FILE__, __LINE__, "out of memory at the end");
    rp_pmpi.Allreduce(sent, all, (int)rp_shared.ranks, rp_constant.uint64, rp_constant.sum,
                      rp_det.own);
    for (int i = 0;
         i < ROUNDS && rp_det_messages_received() < all[rp_shared.rank] && !rp_shared_is_cut_off();
         i++) {
        nanosleep(&pause, NULL);
        rp_det_read_inbox();
    }
    free(all);
}

static bool are_alike(const struct rp_shared_message *one, const struct rp_shared_message *other)
{
    return one->tag == other->tag && one->comm == other->comm && one->site == other->site;
}

/* Behind the last of those like this one that stand together. */
static uint64_t pass_alike(const struct rp_shared_message *first, uint64_t *count)
{
    uint64_t at = rp_shared_offset(first);

    for (*count = 0; at != 0 && are_alike(first, rp_shared_message_at(at)); ++*count)
        at = rp_shared_message_at(at)->own_next;
    return at;
}

static void describe(const struct rp_shared_message *message, struct kind *kind)
{
    struct rp_buffer text = {0};

    if (kind->messages > 1)
        rp_buffer_printf(&text, "%llu ", (unsigned long long)kind->messages);
    rp_buffer_printf(&text, "from rank %s to rank %s with tag %d",
                     rp_shared_rank_name(message->source).text,
                     rp_shared_rank_name(message->dest).text, message->tag);
    if (!rp_det_comm_is_world(message->comm))
        rp_det_put_comm_of(&text, message->comm);
    rp_det_put_place(&text, message->source, message->site);
    rp_buffer_byte(&text, 0);
    if (!text.failed)
        strncpy(kind->words, (char *)text.bytes, sizeof kind->words - 1);
    rp_buffer_free(&text);
}

/* A receive that was posted and never completed might have had its message. */
static void look_at_source(uint32_t source, struct unreceived *found)
{
    for (uint64_t at = rp_det_unreceived(source), count; at != 0;) {
        const struct rp_shared_message *message = rp_shared_message_at(at);
        at = pass_alike(message, &count);
        if (rp_det_posted_first(message, NULL))
            continue;
        found->messages += count;
        if (found->count == FEW)
            continue;
        found->kinds[found->count].messages = count;
        describe(message, &found->kinds[found->count++]);
    }
}

static void say(const struct unreceived *each, uint32_t speakers, uint64_t messages)
{
    struct rp_buffer text = {0};
    uint64_t shown = 0, kinds = 0;

    for (uint32_t i = 0; i < speakers; i++)
        for (uint64_t k = 0; k < each[i].count && kinds < FEW; k++, kinds++) {
            rp_buffer_printf(&text, "%s%s", kinds ? "; " : "", each[i].kinds[k].words);
            shown += each[i].kinds[k].messages;
        }
    if (shown < messages)
        rp_buffer_printf(&text, "; and %llu more", (unsigned long long)(messages - shown));
    rp_buffer_byte(&text, 0);
    rp_diagnostics_process("rank", -1);
    if (!text.failed)
        rp_note("%llu message%s sent and never received: %s", (unsigned long long)messages,
                messages > 1 ? "s were" : " was", (char *)text.bytes);
    rp_buffer_free(&text);
}

/* From the first ranks that have something to say, to rank 0. */
static uint32_t gather(const struct unreceived *own, const uint64_t *counts,
                       struct unreceived *each)
{
    uint32_t speakers = 0, rank = rp_shared.rank - rp_shared.first;

    for (uint32_t i = 0; i < rp_shared.size && speakers < FEW; i++) {
        if (counts[i] == 0)
            continue;
        if (rank == i && i == 0)
            *each = *own;
        else if (rank == i)
            rp_pmpi.Send(own, sizeof *own, rp_constant.byte, 0, 0, rp_det.own);
        else if (rank == 0)
            rp_pmpi.Recv(&each[speakers], sizeof *each, rp_constant.byte, (int)i, 0, rp_det.own,
                         MPI_STATUS_IGNORE);
        speakers++;
    }
    return speakers;
}

static void *need(void *memory)
{
    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory at the end");
    return memory;
}

static void report(const struct unreceived *own)
{
    struct unreceived *each = need(calloc(FEW, sizeof *each));
    uint64_t *counts = need(calloc(rp_shared.size, sizeof *counts)), messages = 0;

    rp_pmpi.Allgather(&own->messages, 1, rp_constant.uint64, counts, 1, rp_constant.uint64,
                      rp_det.own);
    for (uint32_t i = 0; i < rp_shared.size; i++)
        messages += counts[i];
    uint32_t speakers = gather(own, counts, each);
    if (rp_shared.rank == rp_shared.first && messages > 0)
        say(each, speakers, messages);
    free(each);
    free(counts);
}

void rp_det_report_unreceived(void)
{
    struct unreceived own = {0};

    rp_det_read_inbox();
    if (rp_shared.host_of)
        await_messages();
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        look_at_source(i, &own);
    report(&own);
}
