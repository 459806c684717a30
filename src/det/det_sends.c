/* SPDX-License-Identifier: MIT */
/*
 * A send up to the threshold never waits for its receiver: where MPI itself might, the message is
 * sent from a copy (det_copies.h). A longer one waits until a receive takes it, in every MPI: so
 * whether a program goes on does not depend on what the library buffers. The threshold is the
 * largest at which common MPIs stop buffering, so that programs that work with these work here.
 */
#include "det/det_sends.h"

#include "det/det_copies.h"
#include "det/det_real.h"
#include "det/det_sites.h"
#include "det/det_unreceived.h"
#include "det/det_wait.h"
#include "match/send_bounds.h"
#include "preload/constants.h"

enum {
    DIRECT = 2048
}; /* bytes that every MPI buffers by itself, unless they are for the sender itself: MPICH with one
      rank buffers none of these */

/* The envelope goes before the message itself. */
static struct rp_shared_message *publish_envelope(const struct rp_det_comm *comm, int dest, int tag,
                                                  bool is_synchronous)
{
    struct rp_shared_message *message = rp_shared_message_new();

    message->stamp = rp_shared_now();
    message->comm = comm->id;
    message->tag = tag;
    message->from = comm->from;
    message->source = rp_shared.rank;
    message->dest = comm->world[dest];
    message->is_synchronous = is_synchronous;
    message->site = rp_det_site();
    rp_det_count_sent(message->dest);
    rp_shared_message_publish(comm->world[dest], message);
    rp_shared_tick(1);
    return message;
}

static uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;

    rp_pmpi.Type_size_x(type, &size);
    return size > 0 && count > 0 ? (uint64_t)(size * count) : 0;
}

static bool is_synchronous(enum rp_det_mode mode, uint64_t bytes)
{
    return mode == RP_DET_SYNCHRONOUS || (mode == RP_DET_STANDARD && bytes > rp_det.threshold);
}

static bool is_direct(const struct rp_det_comm *comm, int dest, uint64_t bytes)
{
    return comm->world[dest] != rp_shared.rank && bytes <= DIRECT;
}

/* One that does not wait. The program's own buffer is not used for it: MPI_Buffer_detach would wait
 * inside MPI, for receivers that may be waiting for the clock of this rank. */
static int send_away(enum rp_det_mode mode, const void *buf, MPI_Count count, MPI_Datatype type,
                     uint64_t bytes, int dest, int tag, const struct rp_det_comm *c)
{
    MPI_Comm comm = c->comm;

    if (is_direct(c, dest, bytes))
        return rp_pmpi.Send(buf, (int)count, type, dest, tag, comm);
    if (mode == RP_DET_STANDARD)
        rp_det_wait_for_room(bytes);
    return rp_det_send_copy(buf, count, type, bytes, dest, tag, comm);
}

static bool is_received(void *data, bool only_whether)
{
    (void)only_whether;
    return atomic_load(&((struct rp_shared_message *)data)->matched) == RP_MATCHED;
}

/* Until the receiver has taken it. */
static void wait_for_receiver(struct rp_shared_message *message, uint32_t dest)
{
    struct rp_det_wait wait = {.kind = RP_WAIT_RECEIVER,
                               .target = dest,
                               .candidate = RP_SEND_NEVER,
                               .object = rp_shared_offset(message),
                               .what = rp_det.function};

    rp_det_wait(is_received, message, &wait);
    rp_shared_raise(atomic_load(&message->matched_at) + rp_shared.latency);
    rp_shared_message_return(message);
}

const struct rp_det_comm *rp_det_comm_to_send(MPI_Count count, MPI_Datatype type, int dest,
                                              MPI_Comm comm)
{
    const struct rp_det_comm *c =
        count < 0 || type == rp_constant.datatype_null || dest == MPI_PROC_NULL
            ? NULL
            : rp_det_comm_find(comm);

    return c && dest >= 0 && dest < c->size ? c : NULL;
}

int rp_det_send(enum rp_det_mode mode, const void *buf, MPI_Count count, MPI_Datatype type,
                int dest, int tag, MPI_Comm comm)
{
    const struct rp_det_comm *c = rp_det_comm_to_send(count, type, dest, comm);
    uint64_t bytes = c ? bytes_of(count, type) : 0;
    MPI_Request real;

    if (!c || tag < 0)
        return rp_pmpi.Send(buf, (int)count, type, dest, tag, comm);
    if (!is_synchronous(mode, bytes)) {
        publish_envelope(c, dest, tag, false);
        return send_away(mode, buf, count, type, bytes, dest, tag, c);
    }
    struct rp_shared_message *message = publish_envelope(c, dest, tag, true);
    int rc = rp_real_issend(buf, count, type, dest, tag, comm, &real);
    if (rc != MPI_SUCCESS)
        return rc;
    wait_for_receiver(message, c->world[dest]);
    return rp_pmpi.Wait(&real, MPI_STATUS_IGNORE);
}

/* A request that is complete, for what was sent by other means. */
static int complete_request(MPI_Request *request)
{
    return rp_det_new_handle(rp_pmpi.Isend(NULL, 0, rp_constant.byte, MPI_PROC_NULL, 0, rp_det.own,
                                           request),
                             request);
}

int rp_det_isend(enum rp_det_mode mode, const void *buf, MPI_Count count, MPI_Datatype type,
                 int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    const struct rp_det_comm *c = rp_det_comm_to_send(count, type, dest, comm);
    uint64_t bytes = c ? bytes_of(count, type) : 0;

    if (!c || tag < 0)
        return rp_det_new_handle(rp_pmpi.Isend(buf, (int)count, type, dest, tag, comm, request),
                                 request);
    if (!is_synchronous(mode, bytes)) {
        publish_envelope(c, dest, tag, false);
        if (mode == RP_DET_STANDARD && is_direct(c, dest, bytes))
            return rp_det_new_handle(rp_pmpi.Isend(buf, (int)count, type, dest, tag, comm, request),
                                     request);
        int rc = send_away(mode, buf, count, type, bytes, dest, tag, c);
        return rc == MPI_SUCCESS ? complete_request(request) : rc;
    }
    struct rp_det_request *own = rp_det_request_new(RP_DET_SEND);
    own->message = publish_envelope(c, dest, tag, true);
    own->dest = c->world[dest];
    int rc = rp_real_issend(buf, count, type, dest, tag, comm, request);
    if (rc == MPI_SUCCESS)
        rp_det_request_enter(*request, own);
    return rc;
}
