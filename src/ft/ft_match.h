/* SPDX-License-Identifier: MIT */
/* Matches messages with receives. */
#ifndef RP_FT_MATCH_H
#define RP_FT_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "ft/ft_envelope.h"
#include "ft/ft_request.h"

/* A message that arrived and was not received yet. The payload follows it if it has one here. */
struct rp_ft_message {
    struct rp_ft_message *next;
    struct rp_ft_envelope envelope;
    bool has_payload;
};

/* The queues of a context, both in order. */
struct rp_ft_context {
    struct rp_ft_request *posted, **posted_end;
    struct rp_ft_message *unexpected, **unexpected_end;
};

/* Sets the handlers. */
void rp_ft_match_start(void);

/* Returns the queues of this context. They stay where they are. */
struct rp_ft_context *rp_ft_context(int32_t number);

/* Returns a number that is greater than those of all contexts. */
int32_t rp_ft_context_count(void);

/* A message has arrived. `payload` is NULL if that comes by itself, or is in the sender's log. */
void rp_ft_arrive(const struct rp_ft_envelope *envelope, const void *payload);

/* A message that a checkpoint holds is there again. */
void rp_ft_match_restore(const struct rp_ft_envelope *envelope, const void *payload);

/* Posts a receive: it takes the first message that fits, or waits for it. */
void rp_ft_post(struct rp_ft_request *request);

/* Cancels a posted receive. Returns false if it has met its message. */
bool rp_ft_unpost(struct rp_ft_request *request);

/* Returns the first message that fits, or NULL. */
struct rp_ft_message *rp_ft_find(int32_t context, int source, int tag);

/* A matched probe takes a message out of its queue; the receive of it frees it. */
void rp_ft_message_take_out(struct rp_ft_message *message);
void rp_ft_message_receive_taken_out(struct rp_ft_message *message, struct rp_ft_request *request);

/* Returns whether there are messages that a matched probe took and that were not received. */
bool rp_ft_message_is_taken_out(void);

/* Returns the payload of a message that has it. */
void *rp_ft_message_payload(struct rp_ft_message *message);

/* Gets the payload of the message that `request` has taken: it is done when that is there. */
void rp_ft_payload_get(struct rp_ft_request *request);

/* Returns a copy of a message, in no queue, which has the payload if that is not NULL. */
struct rp_ft_message *rp_ft_message_new(const struct rp_ft_envelope *envelope, const void *payload);

/* Marks the messages whose payloads have arrived. */
void rp_ft_payloads_progress(void);

/* The world is closed: payloads that did not arrive are lost, and are sent again in the next one.
 */
void rp_ft_payloads_fail(void);
void rp_ft_payloads_again(void);

/* Lists the messages from a rank, or those that repeat its setup, whose payload is not here, in
 * order. The caller frees `list`, to which `count` are appended. */
void rp_ft_missing(int from, bool setup, uint64_t **list, size_t *count);

/* All ranks roll back: forgets all messages. */
void rp_ft_match_forget(void);

/* Forgets messages of the program that it did not receive, but not those of its collectives. */
void rp_ft_match_drop_program(void);

/* While a rank repeats its setup, messages of the loop wait in a list of their own. This forgets
 * them. */
void rp_ft_match_forget_deferred(void);

/* Takes that list; and delivers what it holds. */
struct rp_ft_message *rp_ft_match_take_deferred(void);
void rp_ft_match_deliver_deferred(struct rp_ft_message *deferred);

#endif
