/* SPDX-License-Identifier: MIT */
/*
 * Lists are singly linked, with the newest first: many ranks push, one takes all at once. Messages
 * go back to the rank that made them, so that it needs no more of them than were ever under way at
 * once.
 */
#include "det/shared_messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"

/* Of this rank: messages that were returned to it, and how far its room was ever used. */
static struct {
    uint64_t spare, end;
} own_messages;

static bool has_returned(void)
{
    if (own_messages.spare == 0)
        own_messages.spare = atomic_exchange(&rp_shared.own->returned, 0);
    return own_messages.spare != 0;
}

static uint64_t use_room(void)
{
    uint64_t end, begin = rp_shared_messages_room(rp_shared.rank, &end);
    uint64_t place = own_messages.end == 0 ? begin : own_messages.end;

    own_messages.end = place + sizeof(struct rp_shared_message);
    if (own_messages.end > end) {
        rp_error("more than %llu messages are under way that were not received",
                 (unsigned long long)((end - begin) / sizeof(struct rp_shared_message)));
        abort();
    }
    return place;
}

struct rp_shared_message *rp_shared_message_new(void)
{
    uint64_t place;

    if (has_returned()) {
        place = own_messages.spare;
        own_messages.spare = rp_shared_message_at(place)->next;
    } else {
        place = use_room();
    }
    struct rp_shared_message *message = rp_shared_message_at(place);
    memset(message, 0, sizeof *message);
    return message;
}

static void push(_Atomic uint64_t *list, struct rp_shared_message *message)
{
    uint64_t first = atomic_load_explicit(list, memory_order_relaxed);

    do
        message->next = first;
    while (!atomic_compare_exchange_weak(list, &first, rp_shared_offset(message)));
}

/* Counted before, so that a count is never less than what is in the outbox. */
void rp_shared_outbox_put(struct rp_shared_message *message)
{
    atomic_fetch_add(message->kind == RP_SHARED_ITEM_ARRIVAL ? &rp_shared_common()->arrivals
                                                             : rp_shared_sent(message->dest),
                     1);
    push(&rp_shared_common()->outbox, message);
    rp_shared_wake_leader();
}

void rp_shared_inbox_put(uint32_t dest, struct rp_shared_message *message)
{
    push(&rp_shared.all[dest].inbox, message);
    atomic_thread_fence(memory_order_seq_cst);
    rp_futex_ring(&rp_shared.all[dest].futex);
}

void rp_shared_message_publish(uint32_t dest, struct rp_shared_message *message)
{
    if (!rp_shared_is_remote(dest)) {
        rp_shared_inbox_put(dest, message);
        return;
    }
    message->kind = RP_SHARED_ITEM_MESSAGE;
    rp_shared_outbox_put(message);
}

void rp_shared_message_return(struct rp_shared_message *message)
{
    push(&rp_shared.all[message->source].returned, message);
}

static void notify_remote_sender(struct rp_shared_message *copy, enum rp_shared_matched matched,
                                 uint64_t at)
{
    if (atomic_load_explicit(&copy->matched, memory_order_relaxed) == matched)
        return;
    atomic_store_explicit(&copy->matched, matched, memory_order_relaxed);
    struct rp_shared_message *item = rp_shared_message_new();
    item->kind = RP_SHARED_ITEM_MATCHED;
    item->source = rp_shared.rank;
    item->dest = copy->source;
    item->home = copy->home;
    item->stamp = at;
    atomic_store_explicit(&item->matched, matched, memory_order_relaxed);
    rp_shared_outbox_put(item);
    if (matched == RP_MATCHED)
        rp_shared_message_return(copy);
}

void rp_shared_notify_sender(struct rp_shared_message *message, enum rp_shared_matched matched,
                             uint64_t at)
{
    if (__builtin_expect(message->is_copy, 0)) {
        notify_remote_sender(message, matched, at);
        return;
    }
    uint32_t source = message->source;
    if (matched == RP_MATCHED)
        atomic_store(&message->matched_at, at);
    atomic_store(&message->matched, matched);
    atomic_thread_fence(memory_order_seq_cst);
    rp_futex_ring(&rp_shared.all[source].futex);
}

uint64_t rp_shared_oldest_first(uint64_t newest)
{
    uint64_t oldest = 0;

    while (newest != 0) {
        struct rp_shared_message *message = rp_shared_message_at(newest);
        uint64_t next = message->next;
        message->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

uint64_t rp_shared_inbox_take(void)
{
    return rp_shared_oldest_first(atomic_exchange(&rp_shared.own->inbox, 0));
}
