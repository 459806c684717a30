/* SPDX-License-Identifier: MIT */
/*
 * Messages as ranks publish them: the envelope of each message and the logical time at which it was
 * sent, in the inbox of the receiver before the message itself is sent by MPI. Payloads are not
 * here. A message goes back to the rank that made it when nobody needs it any more.
 *
 * Messages to ranks of other hosts go to the outbox, and so do notices for these hosts.
 */
#ifndef RP_SHARED_MESSAGES_H
#define RP_SHARED_MESSAGES_H

#include "det/shared_state.h"

/* What has become of a synchronous message. Its receiver changes it, before the receiver's own
 * clock moves on. */
enum rp_shared_matched {
    RP_MATCHED_UNSEEN,  /* the receiver has not looked yet */
    RP_MATCHED_PERHAPS, /* a receive under way may still turn out to take it */
    RP_MATCHED_NOT,     /* no receive under way will */
    RP_MATCHED,         /* at matched_at */
};

/* What the outbox holds. */
enum rp_shared_item {
    RP_SHARED_ITEM_MESSAGE,
    RP_SHARED_ITEM_MATCHED, /* what `matched` of a message from another host has become; at `stamp`
                             */
    RP_SHARED_ITEM_ARRIVAL, /* of a rank of this host at a collective */
};

/* Places are offsets in the shared memory; 0 is none. */
struct rp_shared_message {
    uint64_t next;
    uint64_t stamp; /* logical time of the send */
    uint64_t comm;  /* the communicator's number, the same in all ranks */
    int32_t tag;
    int32_t from;    /* the sender's rank in the communicator */
    uint32_t source; /* and in the job */
    uint32_t dest;   /* in the job */
    uint8_t is_synchronous;
    uint8_t is_copy;       /* the sender is on another host */
    uint8_t kind;          /* in the outbox: enum rp_shared_item */
    uint32_t site;         /* of the sender's sites: where it was sent */
    uint64_t own_next;     /* in the receiver's lists */
    _Atomic uint64_t also; /* another operation that the sender waits for at the same time */
    uint64_t collective;   /* this is no message, but stands for a collective in such a chain */
    _Atomic uint32_t matched;
    union {
        _Atomic uint64_t matched_at;
        uint64_t home; /* of a copy, and in the outbox: its place on the sender's host */
    };
};

static inline struct rp_shared_message *rp_shared_message_at(uint64_t place)
{
    return (struct rp_shared_message *)(rp_shared.memory + place);
}

/* A new message of this rank, all zero. Aborts if too many are under way. */
struct rp_shared_message *rp_shared_message_new(void);

/* Puts it into the inbox of rank `dest`, or into the outbox if that is on another host. The clock
 * of this rank is seen to move on only after that. */
void rp_shared_message_publish(uint32_t dest, struct rp_shared_message *message);

/* Gives a message back to the rank that made it. */
void rp_shared_message_return(struct rp_shared_message *message);

/* The sender of a synchronous message learns what has become of it, `at` what logical time. After
 * RP_MATCHED the message belongs to the sender. */
void rp_shared_notify_sender(struct rp_shared_message *message, enum rp_shared_matched matched,
                             uint64_t at);

static inline bool rp_shared_has_inbox(void)
{
    return atomic_load_explicit(&rp_shared.own->inbox, memory_order_acquire) != 0;
}

/* All messages in the inbox, oldest first, chained by `next`; 0: none. Only while the version is
 * odd. */
uint64_t rp_shared_inbox_take(void);

/* For the leader */

/* A list that was taken out as a whole begins with the newest: turns it round. */
uint64_t rp_shared_oldest_first(uint64_t newest);

/* Puts a message into the outbox, and wakes the leader. */
void rp_shared_outbox_put(struct rp_shared_message *message);

/* Puts a message from another host into the inbox of a rank of this one. */
void rp_shared_inbox_put(uint32_t dest, struct rp_shared_message *message);

#endif
