/* SPDX-License-Identifier: MIT */
/*
 * Messages and receives, matched by MPI's rule: a message takes the first posted receive that fits,
 * a receive the first message that fits, each in a context of its own. A message counts as arrived
 * when its envelope is here. Its payload may be behind, or in the sender's log: then it is received
 * in place, or copied from there, when the message is matched, and asked for again if the world
 * breaks meanwhile.
 *
 * A rank that repeats its setup gets two streams at once from each other rank: the setup's messages
 * again, and those that follow its checkpoint. The latter are deferred until it has restored the
 * checkpoint.
 */
#include "ft/ft_match.h"

#include <stdlib.h>
#include <string.h>

#include "ft/ft_abort.h"
#include "ft/ft_channels.h"
#include "ft/ft_determinants.h"
#include "ft/ft_share.h"
#include "ft/ft_state.h"
#include "ft/ft_transport.h"
#include "ft/ft_types.h"

static struct {
    struct rp_ft_context **contexts;
    int32_t room;
    struct rp_ft_request *payloads; /* receives whose payload is on its way */
    struct rp_ft_message *deferred, **deferred_end;
    struct rp_ft_message *taken_out; /* of their queue, by a matched probe */
} queues = {.deferred_end = &queues.deferred};

static void context_init(struct rp_ft_context *context)
{
    context->posted = NULL;
    context->posted_end = &context->posted;
    context->unexpected = NULL;
    context->unexpected_end = &context->unexpected;
}

/* Queues hold pointers to their own heads, and callers hold pointers to queues: those that are
 * there stay where they are. */
static void grow(int32_t number)
{
    int32_t room = queues.room ? queues.room : 64;

    while (room <= number)
        room *= 2;
    struct rp_ft_context *more = rp_ft_alloc((size_t)(room - queues.room) * sizeof *more);
    queues.contexts = realloc(queues.contexts, (size_t)room * sizeof(struct rp_ft_context *));
    if (!queues.contexts)
        rp_ft_die(125, "out of memory for %d contexts", (int)room);
    for (int32_t i = queues.room; i < room; i++) {
        queues.contexts[i] = &more[i - queues.room];
        context_init(queues.contexts[i]);
    }
    queues.room = room;
}

struct rp_ft_context *rp_ft_context(int32_t number)
{
    if (number >= queues.room)
        grow(number);
    return queues.contexts[number];
}

int32_t rp_ft_context_count(void)
{
    return queues.room;
}

void *rp_ft_message_payload(struct rp_ft_message *message)
{
    return message + 1;
}

static bool fits(const struct rp_ft_request *request, const struct rp_ft_envelope *envelope)
{
    if (request->bound_rank >= 0)
        return envelope->from == request->bound_rank && envelope->seq == request->bound_seq;
    if (request->peer != MPI_ANY_SOURCE && request->peer != envelope->source)
        return false;
    return request->tag == envelope->tag || (request->tag == MPI_ANY_TAG && envelope->tag >= 0);
}

static void unpost(struct rp_ft_request *request)
{
    struct rp_ft_context *context = rp_ft_context(request->context);

    *request->back = request->next;
    if (request->next)
        request->next->back = request->back;
    else
        context->posted_end = request->back;
    request->next = NULL;
    request->back = NULL;
}

static void fill(struct rp_ft_request *request, const void *payload)
{
    const struct rp_ft_envelope *envelope = &request->taken;
    int error = payload ? rp_ft_unpack(payload, envelope->bytes, request->buffer, request->count,
                                       request->type)
                        : MPI_SUCCESS;
    size_t room = rp_ft_size(request->count, request->type);

    rp_ft_status_set(&request->status, envelope->source, envelope->tag, error,
                     envelope->bytes < room ? envelope->bytes : room);
    request->done = true;
}

/* In place where it can be; what is too long must not get there. */
static void receive_payload(struct rp_ft_request *request)
{
    const struct rp_ft_envelope *envelope = &request->taken;
    size_t size;
    bool in_place =
        rp_ft_is_plain(request->type, &size) && envelope->bytes <= size * (size_t)request->count;

    if (!in_place && !request->bounce)
        request->bounce = rp_ft_alloc(envelope->bytes);
    rp_ft_transport_receive_payload(envelope, in_place ? request->buffer : request->bounce,
                                    &request->real);
}

void rp_ft_payload_get(struct rp_ft_request *request)
{
    const void *shared =
        request->taken.flags & RP_FT_SHARED ? rp_ft_share_find(&request->taken) : NULL;

    if (shared) {
        fill(request, shared);
        rp_ft_share_take(shared);
        return;
    }
    request->next_pending = queues.payloads;
    queues.payloads = request;
    request->real = MPI_REQUEST_NULL;
    receive_payload(request);
}

static void report_matched(const struct rp_ft_envelope *envelope)
{
    if (!(envelope->flags & RP_FT_SYNC))
        return;
    if (envelope->from != rp_ft.rank)
        rp_ft_control(RP_FT_MATCHED, envelope->from, envelope->seq, NULL, 0);
}

static void match(struct rp_ft_request *request, const struct rp_ft_envelope *envelope,
                  const void *payload)
{
    request->taken = *envelope;
    rp_ft_determinant_put(request);
    report_matched(envelope);
    if (payload || envelope->bytes == 0) {
        fill(request, payload);
        return;
    }
    rp_ft_payload_get(request);
}

struct rp_ft_message *rp_ft_message_new(const struct rp_ft_envelope *envelope, const void *payload)
{
    struct rp_ft_message *message = malloc(sizeof *message + (payload ? envelope->bytes : 0));

    if (!message)
        rp_ft_die(125, "out of memory for a message of %llu bytes that nobody receives yet",
                  (unsigned long long)envelope->bytes);
    message->next = NULL;
    message->envelope = *envelope;
    message->has_payload = payload != NULL;
    if (payload)
        message->envelope.flags &= ~(uint32_t)RP_FT_SHARED;
    if (payload && envelope->bytes > 0)
        memcpy(message + 1, payload, envelope->bytes);
    return message;
}

static void deliver(const struct rp_ft_envelope *envelope, const void *payload)
{
    struct rp_ft_context *context = rp_ft_context(envelope->context);

    for (struct rp_ft_request *request = context->posted; request; request = request->next)
        if (fits(request, envelope)) {
            unpost(request);
            match(request, envelope, payload);
            return;
        }
    struct rp_ft_message *message = rp_ft_message_new(envelope, payload);
    *context->unexpected_end = message;
    context->unexpected_end = &message->next;
}

void rp_ft_arrive(const struct rp_ft_envelope *envelope, const void *payload)
{
    struct rp_ft_channel *channel = &rp_ft_channels[envelope->from];
    bool again = envelope->flags & RP_FT_SETUP;

    if (envelope->from != rp_ft.rank) {
        uint64_t *expected = again ? &channel->setup_arrived : &channel->arrived;
        if (envelope->seq != *expected)
            rp_ft_die(125, "message %llu of rank %d came where %llu was expected%s",
                      (unsigned long long)envelope->seq, envelope->from,
                      (unsigned long long)*expected, again ? ", in the setup" : "");
        ++*expected;
    }
    if (rp_ft.repeats_setup && !again && envelope->from != rp_ft.rank) {
        *queues.deferred_end = rp_ft_message_new(envelope, payload);
        queues.deferred_end = &(*queues.deferred_end)->next;
        return;
    }
    deliver(envelope, payload);
}

static void unlink_message(struct rp_ft_message *message)
{
    struct rp_ft_context *context = rp_ft_context(message->envelope.context);
    struct rp_ft_message **link = &context->unexpected;

    while (*link != message)
        link = &(*link)->next;
    *link = message->next;
    if (!*link)
        context->unexpected_end = link;
    message->next = NULL;
}

void rp_ft_message_take_out(struct rp_ft_message *message)
{
    unlink_message(message);
    message->next = queues.taken_out;
    queues.taken_out = message;
}

static void take(struct rp_ft_message *message, struct rp_ft_request *request)
{
    match(request, &message->envelope, message->has_payload ? message + 1 : NULL);
    free(message);
}

void rp_ft_message_receive_taken_out(struct rp_ft_message *message, struct rp_ft_request *request)
{
    struct rp_ft_message **link = &queues.taken_out;

    while (*link != message)
        link = &(*link)->next;
    *link = message->next;
    take(message, request);
}

bool rp_ft_message_is_taken_out(void)
{
    return queues.taken_out != NULL;
}

void rp_ft_post(struct rp_ft_request *request)
{
    struct rp_ft_context *context = rp_ft_context(request->context);

    for (struct rp_ft_message *message = context->unexpected; message; message = message->next)
        if (fits(request, &message->envelope)) {
            unlink_message(message);
            take(message, request);
            return;
        }
    request->next = NULL;
    request->back = context->posted_end;
    *context->posted_end = request;
    context->posted_end = &request->next;
}

bool rp_ft_unpost(struct rp_ft_request *request)
{
    if (!request->back)
        return false;
    unpost(request);
    return true;
}

struct rp_ft_message *rp_ft_find(int32_t context, int source, int tag)
{
    struct rp_ft_request like = {.peer = source, .tag = tag, .bound_rank = -1};

    for (struct rp_ft_message *message = rp_ft_context(context)->unexpected; message;
         message = message->next)
        if (fits(&like, &message->envelope))
            return message;
    return NULL;
}

static void payload_came(struct rp_ft_request *request)
{
    fill(request, request->bounce);
    free(request->bounce);
    request->bounce = NULL;
}

void rp_ft_payloads_progress(void)
{
    for (struct rp_ft_request **link = &queues.payloads; *link;) {
        struct rp_ft_request *request = *link;
        int done = 0;
        if (request->real == MPI_REQUEST_NULL ||
            !rp_ft_check(rp_real.Test(&request->real, &done, MPI_STATUS_IGNORE)) || !done) {
            link = &request->next_pending;
            continue;
        }
        *link = request->next_pending;
        payload_came(request);
    }
}

static void unshare(struct rp_ft_message *message)
{
    for (; message; message = message->next)
        message->envelope.flags &= ~(uint32_t)RP_FT_SHARED;
}

/* Payloads that arrived are kept; the others are requested again. */
void rp_ft_payloads_fail(void)
{
    for (int32_t i = 0; i < queues.room; i++)
        unshare(queues.contexts[i]->unexpected);
    unshare(queues.deferred);
    unshare(queues.taken_out);
    for (struct rp_ft_request **link = &queues.payloads; *link;) {
        struct rp_ft_request *request = *link;
        int done = 0;
        if (request->real != MPI_REQUEST_NULL &&
            rp_real.Test(&request->real, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done) {
            *link = request->next_pending;
            payload_came(request);
            continue;
        }
        if (!rp_ft_transport_end_request(&request->real, rp_ft.process_of[request->taken.from]))
            request->bounce = NULL;
        link = &request->next_pending;
    }
}

void rp_ft_payloads_again(void)
{
    for (struct rp_ft_request *request = queues.payloads; request; request = request->next_pending)
        if (request->real == MPI_REQUEST_NULL)
            receive_payload(request);
}

static void note_missing(const struct rp_ft_envelope *envelope, int from, bool setup,
                         uint64_t **list, size_t *count)
{
    if (envelope->from != from || (bool)(envelope->flags & RP_FT_SETUP) != setup)
        return;
    *list = realloc(*list, (*count + 1) * sizeof **list);
    if (!*list)
        rp_ft_die(125, "out of memory");
    (*list)[(*count)++] = envelope->seq;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void note_missing_of(const struct rp_ft_message *message, int from, bool setup,
                            uint64_t **list, size_t *count)
{
    for (; message; message = message->next)
        if (!message->has_payload && message->envelope.bytes > 0)
            note_missing(&message->envelope, from, setup, list, count);
}

void rp_ft_missing(int from, bool setup, uint64_t **list, size_t *count)
{
    for (struct rp_ft_request *request = queues.payloads; request; request = request->next_pending)
        note_missing(&request->taken, from, setup, list, count);
    for (int32_t i = 0; i < queues.room; i++)
        note_missing_of(queues.contexts[i]->unexpected, from, setup, list, count);
    note_missing_of(queues.deferred, from, setup, list, count);
    note_missing_of(queues.taken_out, from, setup, list, count);
    if (*count > 1)
        qsort(*list, *count, sizeof **list, compare);
}

/* Has a message of this number been matched? */
static bool is_among(const struct rp_ft_message *message, int from, uint64_t seq)
{
    while (message && (message->envelope.from != from || message->envelope.seq != seq))
        message = message->next;
    return message != NULL;
}

static void answer_matched(const struct rp_ft_envelope *question, const void *payload)
{
    int from = question->from;
    uint64_t seq = question->seq;

    (void)payload;
    for (int32_t i = 0; i < queues.room; i++)
        if (is_among(queues.contexts[i]->unexpected, from, seq))
            return;
    if (is_among(queues.taken_out, from, seq))
        return;
    if (rp_ft.repeats_setup || seq >= rp_ft_channels[from].arrived)
        return;
    rp_ft_control(RP_FT_MATCHED, from, seq, NULL, 0);
}

static void free_messages(struct rp_ft_message **first)
{
    while (*first) {
        struct rp_ft_message *message = *first;
        *first = message->next;
        free(message);
    }
}

void rp_ft_match_forget_deferred(void)
{
    free_messages(&queues.deferred);
    queues.deferred_end = &queues.deferred;
}

void rp_ft_match_forget(void)
{
    for (int32_t i = 0; i < queues.room; i++) {
        free_messages(&queues.contexts[i]->unexpected);
        context_init(queues.contexts[i]);
    }
    rp_ft_match_forget_deferred();
    free_messages(&queues.taken_out);
    queues.payloads = NULL;
}

/* Even contexts are the program's messages, odd ones its collectives. */
void rp_ft_match_drop_program(void)
{
    for (int32_t i = 0; i < queues.room; i += 2) {
        free_messages(&queues.contexts[i]->unexpected);
        queues.contexts[i]->unexpected_end = &queues.contexts[i]->unexpected;
    }
}

/* What the checkpoint had not received yet. */
void rp_ft_match_restore(const struct rp_ft_envelope *envelope, const void *payload)
{
    deliver(envelope, payload);
}

struct rp_ft_message *rp_ft_match_take_deferred(void)
{
    struct rp_ft_message *taken = queues.deferred;

    queues.deferred = NULL;
    queues.deferred_end = &queues.deferred;
    return taken;
}

void rp_ft_match_deliver_deferred(struct rp_ft_message *deferred)
{
    while (deferred) {
        struct rp_ft_message *message = deferred;
        deferred = message->next;
        message->next = NULL;
        struct rp_ft_context *context = rp_ft_context(message->envelope.context);
        *context->unexpected_end = message;
        context->unexpected_end = &message->next;
    }
}

static void arrive(const struct rp_ft_envelope *envelope, const void *payload)
{
    bool is_here = envelope->bytes <= RP_FT_INLINE && !(envelope->flags & RP_FT_SHARED);

    rp_ft_arrive(envelope, is_here ? payload : NULL);
}

void rp_ft_match_start(void)
{
    rp_ft_transport_handle(RP_FT_DATA, arrive);
    rp_ft_transport_handle(RP_FT_ASK_MATCHED, answer_matched);
}
