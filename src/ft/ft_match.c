/* SPDX-License-Identifier: MIT */
/*
 * Messages and receives, matched by MPI's rule: a message takes the first posted receive that fits,
 * a receive the first message that fits, each in a context of its own. A message counts as arrived
 * when its header is here. Its payload may be behind, or in the sender's log: then it is received
 * in place, or copied from there, when the message is matched, and asked for again if the world
 * breaks meanwhile.
 *
 * A rank that runs through the setup again gets two streams at once from everybody: the setup's
 * messages again, and what comes after its checkpoint. The latter waits until the jump to the
 * checkpoint.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "ft/ft.h"

static struct rp_ft_context *contexts;
static int32_t context_room;
static struct rp_ft_request *payloads; /* receives whose payload is on its way */
static struct rp_ft_message *later, **later_end = &later;
static struct rp_ft_message *held; /* by the program: a probe took them out of their queue */
bool rp_ft_replays_setup;

static void context_init(struct rp_ft_context *context)
{
    context->posted = NULL;
    context->posted_end = &context->posted;
    context->unexpected = NULL;
    context->unexpected_end = &context->unexpected;
}

/* Queues hold pointers to their own heads. */
static void grow(int32_t number)
{
    int32_t room = context_room ? 2 * context_room : 64;

    while (room <= number)
        room *= 2;
    struct rp_ft_context *more = rp_ft_alloc((size_t)room * sizeof *more);
    for (int32_t i = 0; i < room; i++) {
        context_init(&more[i]);
        if (i >= context_room)
            continue;
        if (contexts[i].posted) {
            more[i].posted = contexts[i].posted;
            more[i].posted->back = &more[i].posted;
            more[i].posted_end = contexts[i].posted_end;
        }
        if (contexts[i].unexpected) {
            more[i].unexpected = contexts[i].unexpected;
            more[i].unexpected_end = contexts[i].unexpected_end;
        }
    }
    free(contexts);
    contexts = more;
    context_room = room;
}

struct rp_ft_context *rp_ft_context(int32_t number)
{
    if (number >= context_room)
        grow(number);
    return &contexts[number];
}

int32_t rp_ft_context_count(void)
{
    return context_room;
}

void *rp_ft_message_payload(struct rp_ft_message *message)
{
    return message + 1;
}

static bool fits(const struct rp_ft_request *request, const struct rp_ft_wire *wire)
{
    if (request->bound_rank >= 0)
        return wire->from == request->bound_rank && wire->seq == request->bound_seq;
    if (request->peer != MPI_ANY_SOURCE && request->peer != wire->source)
        return false;
    return request->tag == wire->tag || (request->tag == MPI_ANY_TAG && wire->tag >= 0);
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
    const struct rp_ft_wire *wire = &request->taken;
    int error =
        payload ? rp_ft_unpack(payload, wire->bytes, request->buffer, request->count, request->type)
                : MPI_SUCCESS;
    size_t room = rp_ft_size(request->count, request->type);

    rp_ft_status_set(&request->status, wire->source, wire->tag, error,
                     wire->bytes < room ? wire->bytes : room);
    request->done = true;
}

/* In place where it can be; what is too long must not get there. */
static void receive_payload(struct rp_ft_request *request)
{
    const struct rp_ft_wire *wire = &request->taken;
    size_t size;
    bool in_place =
        rp_ft_is_plain(request->type, &size) && wire->bytes <= size * (size_t)request->count;

    if (!in_place && !request->bounce)
        request->bounce = rp_ft_alloc(wire->bytes);
    if (rp_real.Irecv(in_place ? request->buffer : request->bounce, (int)wire->bytes, MPI_BYTE,
                      rp_ft.process_of[wire->from], rp_ft_payload_tag(wire), rp_ft.world,
                      &request->real) != MPI_SUCCESS) {
        request->real = MPI_REQUEST_NULL;
        rp_ft.broken = true;
    }
}

static void get_payload(struct rp_ft_request *request)
{
    const void *shared =
        request->taken.flags & RP_FT_SHARED ? rp_ft_share_find(&request->taken) : NULL;

    if (shared) {
        fill(request, shared);
        rp_ft_share_take(shared);
        return;
    }
    request->next_pending = payloads;
    payloads = request;
    request->real = MPI_REQUEST_NULL;
    receive_payload(request);
}

static void tell_matched(const struct rp_ft_wire *wire)
{
    if (!(wire->flags & RP_FT_SYNC))
        return;
    if (wire->from != rp_ft.rank)
        rp_ft_control(RP_FT_MATCHED, wire->from, wire->seq, NULL, 0);
}

static void match(struct rp_ft_request *request, const struct rp_ft_wire *wire, const void *payload)
{
    request->taken = *wire;
    rp_ft_determinant_put(request);
    tell_matched(wire);
    if (payload || wire->bytes == 0) {
        fill(request, payload);
        return;
    }
    get_payload(request);
}

static struct rp_ft_message *keep(const struct rp_ft_wire *wire, const void *payload)
{
    struct rp_ft_message *message = malloc(sizeof *message + (payload ? wire->bytes : 0));

    if (!message)
        rp_ft_die(125, "out of memory for a message of %llu bytes that nobody receives yet",
                  (unsigned long long)wire->bytes);
    message->next = NULL;
    message->wire = *wire;
    message->has_payload = payload != NULL;
    if (payload)
        message->wire.flags &= ~(uint32_t)RP_FT_SHARED;
    if (payload && wire->bytes > 0)
        memcpy(message + 1, payload, wire->bytes);
    return message;
}

static void deliver(const struct rp_ft_wire *wire, const void *payload)
{
    struct rp_ft_context *context = rp_ft_context(wire->context);

    for (struct rp_ft_request *request = context->posted; request; request = request->next)
        if (fits(request, wire)) {
            unpost(request);
            match(request, wire, payload);
            return;
        }
    struct rp_ft_message *message = keep(wire, payload);
    *context->unexpected_end = message;
    context->unexpected_end = &message->next;
}

void rp_ft_arrive(const struct rp_ft_wire *wire, const void *payload)
{
    struct rp_ft_channel *channel = &rp_ft_channels[wire->from];
    bool again = wire->flags & RP_FT_SETUP;

    if (wire->from != rp_ft.rank) {
        uint64_t *expected = again ? &channel->setup_arrived : &channel->arrived;
        if (wire->seq != *expected)
            rp_ft_die(125, "message %llu of rank %d came where %llu was expected%s",
                      (unsigned long long)wire->seq, wire->from, (unsigned long long)*expected,
                      again ? ", in the setup" : "");
        ++*expected;
    }
    if (rp_ft_replays_setup && !again && wire->from != rp_ft.rank) {
        *later_end = keep(wire, payload);
        later_end = &(*later_end)->next;
        return;
    }
    deliver(wire, payload);
}

static void unlink_message(struct rp_ft_message *message)
{
    struct rp_ft_context *context = rp_ft_context(message->wire.context);
    struct rp_ft_message **link = &context->unexpected;

    while (*link != message)
        link = &(*link)->next;
    *link = message->next;
    if (!*link)
        context->unexpected_end = link;
    message->next = NULL;
}

void rp_ft_hold(struct rp_ft_message *message)
{
    unlink_message(message);
    message->next = held;
    held = message;
}

void rp_ft_take_held(struct rp_ft_message *message, struct rp_ft_request *request)
{
    struct rp_ft_message **link = &held;

    while (*link != message)
        link = &(*link)->next;
    *link = message->next;
    rp_ft_take(message, request);
}

bool rp_ft_holds(void)
{
    return held != NULL;
}

void rp_ft_take(struct rp_ft_message *message, struct rp_ft_request *request)
{
    match(request, &message->wire, message->has_payload ? message + 1 : NULL);
    free(message);
}

void rp_ft_post(struct rp_ft_request *request)
{
    struct rp_ft_context *context = rp_ft_context(request->context);

    for (struct rp_ft_message *message = context->unexpected; message; message = message->next)
        if (fits(request, &message->wire)) {
            unlink_message(message);
            rp_ft_take(message, request);
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
        if (fits(&like, &message->wire))
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
    for (struct rp_ft_request **link = &payloads; *link;) {
        struct rp_ft_request *request = *link;
        int done = 0, code = request->real == MPI_REQUEST_NULL
                                 ? MPI_SUCCESS
                                 : rp_real.Test(&request->real, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS)
            rp_ft.broken = true;
        if (code != MPI_SUCCESS || !done) {
            link = &request->next_pending;
            continue;
        }
        *link = request->next_pending;
        payload_came(request);
    }
}

static void share_no_more(struct rp_ft_message *message)
{
    for (; message; message = message->next)
        message->wire.flags &= ~(uint32_t)RP_FT_SHARED;
}

/* Those that did come have come; the others are asked for again. */
void rp_ft_payloads_fail(void)
{
    for (int32_t i = 0; i < context_room; i++)
        share_no_more(contexts[i].unexpected);
    share_no_more(later);
    share_no_more(held);
    for (struct rp_ft_request **link = &payloads; *link;) {
        struct rp_ft_request *request = *link;
        int done = 0;
        if (request->real != MPI_REQUEST_NULL &&
            rp_real.Test(&request->real, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done) {
            *link = request->next_pending;
            payload_came(request);
            continue;
        }
        if (!rp_ft_end_request(&request->real, rp_ft.process_of[request->taken.from]))
            request->bounce = NULL;
        link = &request->next_pending;
    }
}

void rp_ft_payloads_again(void)
{
    for (struct rp_ft_request *request = payloads; request; request = request->next_pending)
        if (request->real == MPI_REQUEST_NULL)
            receive_payload(request);
}

/* The message stays in its place meanwhile: nobody receives while a checkpoint is taken. */
static void pull(struct rp_ft_message **link)
{
    struct rp_ft_message *message = *link;
    uint8_t *payload = rp_ft_alloc(message->wire.bytes);
    struct rp_ft_request *request = rp_ft_request_new(RP_FT_RECEIVE, NULL);

    request->taken = message->wire;
    request->buffer = payload;
    request->count = (int)message->wire.bytes;
    request->type = MPI_BYTE;
    request->active = true;
    get_payload(request);
    rp_ft_finish(request);
    *link = keep(&message->wire, payload);
    (*link)->next = message->next;
    free(message);
    free(payload);
}

void rp_ft_pull_payloads(void)
{
    for (int32_t i = 0; i < context_room; i++) {
        struct rp_ft_message **link = &contexts[i].unexpected;
        for (; *link; link = &(*link)->next)
            if (!(*link)->has_payload && (*link)->wire.bytes > 0)
                pull(link);
        contexts[i].unexpected_end = link;
    }
}

static void note_missing(const struct rp_ft_wire *wire, int from, bool setup, uint64_t **list,
                         size_t *count)
{
    if (wire->from != from || (bool)(wire->flags & RP_FT_SETUP) != setup)
        return;
    *list = realloc(*list, (*count + 1) * sizeof **list);
    if (!*list)
        rp_ft_die(125, "out of memory");
    (*list)[(*count)++] = wire->seq;
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
        if (!message->has_payload && message->wire.bytes > 0)
            note_missing(&message->wire, from, setup, list, count);
}

void rp_ft_missing(int from, bool setup, uint64_t **list, size_t *count)
{
    for (struct rp_ft_request *request = payloads; request; request = request->next_pending)
        note_missing(&request->taken, from, setup, list, count);
    for (int32_t i = 0; i < context_room; i++)
        note_missing_of(contexts[i].unexpected, from, setup, list, count);
    note_missing_of(later, from, setup, list, count);
    note_missing_of(held, from, setup, list, count);
    if (*count > 1)
        qsort(*list, *count, sizeof **list, compare);
}

/* Has a message of this number been matched? */
static bool is_among(const struct rp_ft_message *message, int from, uint64_t seq)
{
    while (message && (message->wire.from != from || message->wire.seq != seq))
        message = message->next;
    return message != NULL;
}

void rp_ft_asked(int from, uint64_t seq)
{
    for (int32_t i = 0; i < context_room; i++)
        if (is_among(contexts[i].unexpected, from, seq))
            return;
    if (is_among(held, from, seq))
        return;
    if (rp_ft_replays_setup || seq >= rp_ft_channels[from].arrived)
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

void rp_ft_match_forget_later(void)
{
    free_messages(&later);
    later_end = &later;
}

void rp_ft_match_forget(void)
{
    for (int32_t i = 0; i < context_room; i++) {
        free_messages(&contexts[i].unexpected);
        context_init(&contexts[i]);
    }
    rp_ft_match_forget_later();
    free_messages(&held);
    payloads = NULL;
}

/* Even contexts are the program's messages, odd ones its collectives. */
void rp_ft_match_drop_program(void)
{
    for (int32_t i = 0; i < context_room; i += 2) {
        free_messages(&contexts[i].unexpected);
        contexts[i].unexpected_end = &contexts[i].unexpected;
    }
}

/* What the checkpoint had not received yet. */
void rp_ft_match_restore(const struct rp_ft_wire *wire, const void *payload)
{
    deliver(wire, payload);
}

void rp_ft_match_begin_jump(struct rp_ft_message **kept)
{
    *kept = later;
    later = NULL;
    later_end = &later;
}

void rp_ft_match_end_jump(struct rp_ft_message *kept)
{
    while (kept) {
        struct rp_ft_message *message = kept;
        kept = message->next;
        message->next = NULL;
        struct rp_ft_context *context = rp_ft_context(message->wire.context);
        *context->unexpected_end = message;
        context->unexpected_end = &message->next;
    }
}
