/* SPDX-License-Identifier: MIT */
/*
 * Sending and receiving. A send copies its payload into the log and sends it from there; the
 * receiver reads it there, if it can (ft_share.c). Else a long one goes from the program's buffer
 * where that stays until the send is done, since it is nearer. What the receiver is known to have
 * is only logged: a rank that runs again sends it a second time.
 */
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "ft/ft.h"
#include "reprise.h"

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

/* Past the caches, where they can be passed by: nobody reads it soon. */
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
static void send_here(const struct rp_ft_wire *wire, struct rp_ft_channel *channel,
                      const void *buffer, int count, MPI_Datatype type)
{
    void *payload = rp_ft_alloc(wire->bytes);

    ++*(rp_ft_replays_setup ? &channel->setup_again : &channel->sent);
    rp_ft_pack(buffer, count, type, payload, wire->bytes);
    rp_ft_arrive(wire, payload);
    free(payload);
}

/* The receiver has it, but perhaps not its payload, and perhaps it did not match it yet. */
static void repeat(struct rp_ft_entry *entry, const struct rp_ft_channel *channel, int to)
{
    if (entry->wire.flags & RP_FT_SYNC)
        rp_ft_control(RP_FT_ASK_MATCHED, to, entry->wire.seq, NULL, 0);
    else
        rp_ft_entry_done(entry);
    if (is_among(channel->wanted, channel->wanted_count, entry->wire.seq))
        rp_ft_transmit_payload(entry, to, 0);
    rp_ft_event_repeated();
}

/* Only who runs through the setup again as well needs it. */
static void send_setup_again(struct rp_ft_entry *entry, struct rp_ft_channel *channel, int to)
{
    channel->setup_again++;
    entry->matched = true;
    if (entry->wire.seq >= channel->setup_wanted)
        rp_ft_transmit(entry, to, RP_FT_SETUP, NULL);
    else if (is_among(channel->wanted_setup, channel->wanted_setup_count, entry->wire.seq))
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
    struct rp_ft_wire wire = {.kind = RP_FT_DATA,
                              .flags = flags & RP_FT_SYNC,
                              .context = context,
                              .source = comm->rank,
                              .tag = tag,
                              .from = rp_ft.rank,
                              .seq = rp_ft_replays_setup ? channel->setup_again : channel->sent,
                              .bytes = rp_ft_size(count, type)};

    if (rank == rp_ft.rank) {
        send_here(&wire, channel, buffer, count, type);
        if (request)
            request->done = true;
        return;
    }
    size_t squeezed;
    const void *squeezed_bytes = rp_ft_squeezes && wire.bytes > RP_FT_INLINE
                                     ? rp_ft_squeeze(buffer, count, type, wire.bytes, &squeezed)
                                     : NULL;
    struct rp_ft_entry *entry =
        rp_ft_log_append(&channel->log, squeezed_bytes ? squeezed : wire.bytes,
                         rp_ft_replays_setup);
    entry->wire = wire;
    bool from_buffer = flags & RP_FT_STAYS && wire.bytes > RP_FT_INLINE &&
                       rp_ft_is_plain(type, &size) && !rp_ft_share_with(rank, entry);
    if (squeezed_bytes)
        memcpy(rp_ft_payload(entry), squeezed_bytes, squeezed);
    else if (from_buffer)
        store_away(rp_ft_payload(entry), buffer, wire.bytes);
    else
        rp_ft_pack(buffer, count, type, rp_ft_payload(entry), wire.bytes);
    if (request) {
        request->entry = entry;
        entry->request = request;
    }
    if (rp_ft_replays_setup) {
        send_setup_again(entry, channel, rank);
        return;
    }
    channel->sent++;
    if (wire.seq >= channel->suppress)
        rp_ft_transmit(entry, rank, 0, from_buffer ? buffer : NULL);
    else
        repeat(entry, channel, rank);
    if (rp_ft_log_bytes > rp_ft_log_capacity && rp_ft_log_capacity && !rp_ft.in_setup)
        rp_ft_log_cap();
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

static int check(struct rp_ft_comm *comm, int count, MPI_Datatype type, int peer, int tag,
                 bool receives)
{
    if (count < 0)
        return MPI_ERR_COUNT;
    if (type == MPI_DATATYPE_NULL)
        return MPI_ERR_TYPE;
    if (tag < 0 && !(receives && tag == MPI_ANY_TAG))
        return MPI_ERR_TAG;
    if (peer == MPI_PROC_NULL || (receives && peer == MPI_ANY_SOURCE) ||
        (peer >= 0 && peer < comm->size))
        return MPI_SUCCESS;
    return MPI_ERR_RANK;
}

/* A request that is done as soon as it is there. */
static struct rp_ft_request *nothing(struct rp_ft_comm *comm, bool receives)
{
    struct rp_ft_request *request = rp_ft_request_new(receives ? RP_FT_RECEIVE : RP_FT_SEND, comm);

    request->peer = MPI_PROC_NULL;
    request->active = request->done = true;
    if (receives)
        rp_ft_status_set(&request->status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_SUCCESS, 0);
    return request;
}

static int start_send(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                      MPI_Comm handle, uint32_t flags, MPI_Request *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);
    int error = check(comm, count, type, to, tag, false);

    if (error != MPI_SUCCESS)
        return rp_ft_error(comm, error);
    struct rp_ft_request *request =
        to == MPI_PROC_NULL ? nothing(comm, false) : rp_ft_request_new(RP_FT_SEND, comm);
    request->active = true;
    request->send_flags = flags;
    rp_ft_requests_active++;
    if (to != MPI_PROC_NULL)
        rp_ft_send(comm, comm->context, to, tag, buffer, count, type, flags, request);
    *out = (MPI_Request)request;
    return MPI_SUCCESS;
}

static int start_receive(void *buffer, int count, MPI_Datatype type, int from, int tag,
                         MPI_Comm handle, MPI_Request *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);
    int error = check(comm, count, type, from, tag, true);

    if (error != MPI_SUCCESS)
        return rp_ft_error(comm, error);
    rp_ft_requests_active++;
    *out = (MPI_Request)(from == MPI_PROC_NULL
                             ? nothing(comm, true)
                             : rp_ft_receive(comm, comm->context, from, tag, buffer, count, type));
    return MPI_SUCCESS;
}

static int send_and_wait(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, uint32_t flags)
{
    MPI_Request request;
    int error = start_send(buffer, count, type, to, tag, comm, flags, &request);

    return error == MPI_SUCCESS ? rp_ft_Wait(&request, MPI_STATUS_IGNORE) : error;
}

int rp_ft_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return send_and_wait(buffer, count, type, to, tag, comm, RP_FT_STAYS);
}

int rp_ft_Rsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return send_and_wait(buffer, count, type, to, tag, comm, RP_FT_STAYS);
}

int rp_ft_Ssend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return send_and_wait(buffer, count, type, to, tag, comm, RP_FT_SYNC);
}

/* The log is the buffer. */
int rp_ft_Bsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    MPI_Request request;
    int error = start_send(buffer, count, type, to, tag, comm, 0, &request);

    if (error == MPI_SUCCESS)
        rp_ft_request_complete(&request, MPI_STATUS_IGNORE);
    return error;
}

int rp_ft_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return start_send(buffer, count, type, to, tag, comm, RP_FT_STAYS, request);
}

int rp_ft_Irsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    return start_send(buffer, count, type, to, tag, comm, RP_FT_STAYS, request);
}

int rp_ft_Issend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    return start_send(buffer, count, type, to, tag, comm, RP_FT_SYNC, request);
}

int rp_ft_Ibsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    int error = start_send(buffer, count, type, to, tag, comm, 0, request);

    if (error == MPI_SUCCESS)
        ((struct rp_ft_request *)*request)->done = true;
    return error;
}

int rp_ft_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return start_receive(buffer, count, type, from, tag, comm, request);
}

int rp_ft_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
               MPI_Status *status)
{
    MPI_Request request;
    int error = start_receive(buffer, count, type, from, tag, comm, &request);

    return error == MPI_SUCCESS ? rp_ft_Wait(&request, status) : error;
}

int rp_ft_Sendrecv(const void *sent, int sent_count, MPI_Datatype sent_type, int to, int sent_tag,
                   void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                   MPI_Status *status)
{
    MPI_Request in, out;
    int error = start_receive(buffer, count, type, from, tag, comm, &in);

    if (error == MPI_SUCCESS)
        error = start_send(sent, sent_count, sent_type, to, sent_tag, comm, RP_FT_STAYS, &out);
    if (error != MPI_SUCCESS)
        return error;
    rp_ft_Wait(&out, MPI_STATUS_IGNORE);
    return rp_ft_Wait(&in, status);
}

int rp_ft_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int to, int sent_tag,
                           int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request in, out;
    int error = start_send(buffer, count, type, to, sent_tag, comm, 0, &out);

    if (error == MPI_SUCCESS)
        error = start_receive(buffer, count, type, from, tag, comm, &in);
    if (error != MPI_SUCCESS)
        return error;
    rp_ft_Wait(&out, MPI_STATUS_IGNORE);
    return rp_ft_Wait(&in, status);
}

/* Persistent requests keep what they were made with. */

static int make_persistent(const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                           MPI_Comm handle, bool receives, uint32_t flags, MPI_Request *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);
    int error = check(comm, count, type, peer, tag, receives);

    if (error != MPI_SUCCESS)
        return rp_ft_error(comm, error);
    struct rp_ft_request *request = rp_ft_request_new(receives ? RP_FT_RECEIVE : RP_FT_SEND, comm);
    rp_ft_request_is_persistent(request);
    request->buffer = (void *)buffer;
    request->count = count;
    request->type = rp_ft_type_keep(type, &request->owns_type);
    request->peer = peer;
    request->tag = tag;
    request->context = comm->context;
    request->send_flags = flags;
    *out = (MPI_Request)request;
    return MPI_SUCCESS;
}

int rp_ft_Send_init(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return make_persistent(buffer, count, type, to, tag, comm, false, RP_FT_STAYS, request);
}

int rp_ft_Rsend_init(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return make_persistent(buffer, count, type, to, tag, comm, false, RP_FT_STAYS, request);
}

int rp_ft_Bsend_init(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return make_persistent(buffer, count, type, to, tag, comm, false, 0, request);
}

int rp_ft_Ssend_init(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return make_persistent(buffer, count, type, to, tag, comm, false, RP_FT_SYNC, request);
}

int rp_ft_Recv_init(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Request *request)
{
    return make_persistent(buffer, count, type, from, tag, comm, true, 0, request);
}

int rp_ft_Start(MPI_Request *handle)
{
    struct rp_ft_request *request = (struct rp_ft_request *)*handle;

    if (*handle == MPI_REQUEST_NULL || !request->persistent || request->active)
        return rp_ft_error(rp_ft_comm_of(MPI_COMM_WORLD), MPI_ERR_REQUEST);
    request->active = true;
    request->done = request->peer == MPI_PROC_NULL;
    request->bound_rank = -1;
    request->wildcard = 0;
    rp_ft_requests_active++;
    rp_ft_status_empty(&request->status);
    if (request->peer == MPI_PROC_NULL && request->kind == RP_FT_RECEIVE)
        rp_ft_status_set(&request->status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_SUCCESS, 0);
    if (request->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (request->kind == RP_FT_SEND) {
        rp_ft_send(request->comm, request->context, request->peer, request->tag, request->buffer,
                   request->count, request->type, request->send_flags, request);
        return MPI_SUCCESS;
    }
    if (request->peer == MPI_ANY_SOURCE)
        rp_ft_determinant_get(request);
    rp_ft_post(request);
    return MPI_SUCCESS;
}

/* Probes. Which message one finds is a determinant, told as its number and sender in one. */

static int64_t name_of(const struct rp_ft_wire *wire)
{
    return (int64_t)wire->seq * rp_ft.ranks + wire->from;
}

static struct rp_ft_message *find_replayed(int32_t context, int64_t name)
{
    for (;;) {
        for (struct rp_ft_message *message = rp_ft_context(context)->unexpected; message;
             message = message->next)
            if (name_of(&message->wire) == name)
                return message;
        rp_ft_pause();
    }
}

static struct rp_ft_message *probe(struct rp_ft_comm *comm, int from, int tag, bool waits)
{
    struct rp_ft_message *message = NULL;
    int64_t name;

    if (!waits && rp_ft_outcome_is_no())
        return NULL;
    if (rp_ft_outcome_next(&name))
        return find_replayed(comm->context, name);
    rp_ft_progress();
    message = rp_ft_find(comm->context, from, tag);
    if (waits)
        RP_FT_WAIT_UNTIL((message = rp_ft_find(comm->context, from, tag)) != NULL);
    if (!message) {
        rp_ft_outcome_no();
        return NULL;
    }
    rp_ft_outcome_put(name_of(&message->wire));
    return message;
}

static int find(int from, int tag, MPI_Comm handle, bool waits, int *flag,
                struct rp_ft_message **out, MPI_Status *status)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);
    int error = check(comm, 0, MPI_BYTE, from, tag, true);

    *out = NULL;
    if (error != MPI_SUCCESS)
        return rp_ft_error(comm, error);
    if (from == MPI_PROC_NULL) {
        *flag = 1;
        rp_ft_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_SUCCESS, 0);
        return MPI_SUCCESS;
    }
    *out = probe(comm, from, tag, waits);
    *flag = *out != NULL;
    if (*out)
        rp_ft_status_set(status, (*out)->wire.source, (*out)->wire.tag, MPI_SUCCESS,
                         (*out)->wire.bytes);
    return MPI_SUCCESS;
}

int rp_ft_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct rp_ft_message *message;
    int flag;

    return find(from, tag, comm, true, &flag, &message, status);
}

int rp_ft_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct rp_ft_message *message;

    return find(from, tag, comm, false, flag, &message, status);
}

static void give_message(struct rp_ft_message *message, MPI_Message *out)
{
    *out = message ? (MPI_Message)message : MPI_MESSAGE_NO_PROC;
    if (message)
        rp_ft_hold(message);
}

int rp_ft_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *out, MPI_Status *status)
{
    struct rp_ft_message *message;
    int flag, error = find(from, tag, comm, true, &flag, &message, status);

    if (error == MPI_SUCCESS)
        give_message(message, out);
    return error;
}

int rp_ft_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *out, MPI_Status *status)
{
    struct rp_ft_message *message;
    int error = find(from, tag, comm, false, flag, &message, status);

    if (error == MPI_SUCCESS && *flag)
        give_message(message, out);
    return error;
}

int rp_ft_Imrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *handle, MPI_Request *out)
{
    struct rp_ft_message *message = (struct rp_ft_message *)*handle;
    struct rp_ft_comm *world = rp_ft_comm_of(MPI_COMM_WORLD);

    rp_ft_requests_active++;
    if (*handle == MPI_MESSAGE_NO_PROC) {
        *out = (MPI_Request)nothing(world, true);
    } else {
        struct rp_ft_request *request = rp_ft_request_new(RP_FT_RECEIVE, world);
        request->buffer = buffer;
        request->count = count;
        request->type = rp_ft_type_keep(type, &request->owns_type);
        request->active = true;
        *out = (MPI_Request)request;
        rp_ft_take_held(message, request);
    }
    *handle = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

int rp_ft_Mrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *handle, MPI_Status *status)
{
    MPI_Request request;

    rp_ft_Imrecv(buffer, count, type, handle, &request);
    return rp_ft_Wait(&request, status);
}

/* The log buffers; what the program attaches is its own. */
static void *attached;
static int attached_bytes;

int rp_ft_Buffer_attach(void *buffer, int bytes)
{
    attached = buffer;
    attached_bytes = bytes;
    return MPI_SUCCESS;
}

int rp_ft_Buffer_detach(void *buffer, int *bytes)
{
    *(void **)buffer = attached;
    *bytes = attached_bytes;
    attached = NULL;
    attached_bytes = 0;
    return MPI_SUCCESS;
}
