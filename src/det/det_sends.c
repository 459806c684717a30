/* SPDX-License-Identifier: MIT */
/*
 * A send up to the threshold never waits for its receiver: where MPI itself might, the message is
 * copied and sent from the copy. A longer one waits until a receive takes it, in every MPI: so
 * whether a program goes on does not depend on what the library buffers. The threshold is the
 * largest at which common MPIs stop buffering, so that programs that work with these work here.
 */
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diagnostics.h"
#include "det/det.h"
#include "match/send_bounds.h"
#include "preload/constants.h"

enum {
    DIRECT = 2048
}; /* bytes that every MPI buffers by itself, unless they are for the sender itself: MPICH with one
      rank buffers none of these */

struct copy {
    struct copy *next;
    MPI_Request request;
    uint64_t bytes;
    char data[];
};

static struct copy *copies, **last = &copies; /* the oldest first */
static uint64_t copied;                       /* bytes in them */

/* False if it has not left yet. */
static bool free_copy(struct copy **link)
{
    struct copy *copy = *link;
    int done = 0;

    rp_pmpi.Test(&copy->request, &done, MPI_STATUS_IGNORE);
    if (!done)
        return false;
    *link = copy->next;
    if (last == &copy->next)
        last = link;
    copied -= copy->bytes;
    free(copy);
    return true;
}

static void free_sent_copies(void)
{
    for (struct copy **link = &copies; *link;)
        if (!free_copy(link))
            link = &(*link)->next;
}

/* Who never waits would keep copies up to the limit. */
static void free_oldest_copies(void)
{
    enum { FEW = 256 << 10 };

    while (copied > FEW && copies && free_copy(&copies))
        ;
}

void rp_det_progress(void)
{
    int flag;

    if (copies)
        free_sent_copies();
    else
        rp_pmpi.Iprobe(MPI_ANY_SOURCE, 0, rp_det.own, &flag, MPI_STATUS_IGNORE);
}

void rp_det_flush(void)
{
    while (copies) {
        free_sent_copies();
        sched_yield();
    }
}

static bool others_run(void)
{
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (i != rp_shared_side.rank && rp_shared_clock_of(i) != RP_SEND_NEVER &&
            atomic_load(&rp_shared_side.all[i].version) % 2 != 0 &&
            !atomic_load(&rp_shared_side.all[i].is_idle))
            return true;
    return false;
}

/* While others run they may receive what was copied. If none does, the limit has to give way, or we
 * would wait for each other; by far, lest the next message waits as long. */
static void wait_for_room(uint64_t bytes)
{
    enum { ROUNDS = 50 };

    if (copied + bytes <= rp_det.limit)
        return;
    atomic_store(&rp_shared_side.own->is_idle,
                 1); /* who waits here as well does not receive either */
    for (unsigned idle = 0; copied + bytes > rp_det.limit && copies && idle < ROUNDS;
         idle = others_run() ? 0 : idle + 1) {
        rp_shared_hunger();
        free_sent_copies();
        sched_yield();
    }
    atomic_store(&rp_shared_side.own->is_idle, 0);
    rp_shared_sate();
    if (copied + bytes > rp_det.limit)
        rp_det.limit = 2 * (copied + bytes);
}

/* What of the memory a message uses; false: it is scattered too widely to be copied as it is. */
static bool find_span(const void *buf, MPI_Count count, MPI_Datatype type, uint64_t bytes,
                      MPI_Count *low, MPI_Count *length)
{
    MPI_Count lower, extent, true_lower, true_extent;

    rp_pmpi.Type_get_extent_x(type, &lower, &extent);
    rp_pmpi.Type_get_true_extent_x(type, &true_lower, &true_extent);
    *low = true_lower;
    *length = true_extent + extent * (count - 1);
    return buf && extent >= 0 && *length > 0 && (uint64_t)*length <= 2 * bytes;
}

static struct copy *new_copy(size_t room, uint64_t bytes)
{
    struct copy *copy = malloc(sizeof *copy + room);

    if (!copy)
        rp_bug(__FILE__, __LINE__, "out of memory for a message");
    copy->bytes = bytes;
    return copy;
}

/* A copy that looks like the original, so that it is sent by the same type. */
static int send_likeness(const void *buf, MPI_Count low, MPI_Count length, MPI_Count count,
                         MPI_Datatype type, struct copy *copy, int dest, int tag, MPI_Comm comm)
{
    memcpy(copy->data, (const char *)buf + low, (size_t)length);
    return rp_pmpi.Isend((const void *)((uintptr_t)copy->data - (uintptr_t)low), (int)count, type,
                         dest, tag, comm, &copy->request);
}

/* MPICH does not pack from MPI_BOTTOM: a message to ourselves does. */
static int pack(const void *buf, MPI_Count count, MPI_Datatype type, char *into, int room,
                int *position, MPI_Comm comm)
{
    MPI_Status status;
    int self;

    *position = 0;
    if (buf)
        return rp_pmpi.Pack(buf, (int)count, type, into, room, position, comm);
    rp_pmpi.Comm_rank(rp_det.own, &self);
    int rc = rp_pmpi.Sendrecv(buf, (int)count, type, self, 1, into, room, rp_constant.packed, self,
                              1, rp_det.own, &status);
    return rc != MPI_SUCCESS ? rc : rp_pmpi.Get_count(&status, rp_constant.packed, position);
}

static int send_packed(const void *buf, MPI_Count count, MPI_Datatype type, int room,
                       struct copy *copy, int dest, int tag, MPI_Comm comm)
{
    int position;
    int rc = pack(buf, count, type, copy->data, room, &position, comm);

    return rc != MPI_SUCCESS ? rc
                             : rp_pmpi.Isend(copy->data, position, rp_constant.packed, dest, tag,
                                             comm, &copy->request);
}

static int send_copy(const void *buf, MPI_Count count, MPI_Datatype type, uint64_t bytes, int dest,
                     int tag, MPI_Comm comm)
{
    MPI_Count low, length;
    struct copy *copy;
    int room = 0, rc;

    if (find_span(buf, count, type, bytes, &low, &length)) {
        copy = new_copy((size_t)length, bytes);
        rc = send_likeness(buf, low, length, count, type, copy, dest, tag, comm);
    } else {
        rp_pmpi.Pack_size((int)count, type, comm, &room);
        copy = new_copy((size_t)room, bytes);
        rc = send_packed(buf, count, type, room, copy, dest, tag, comm);
    }
    if (rc != MPI_SUCCESS) {
        free(copy);
        return rc;
    }
    copied += bytes;
    copy->next = NULL;
    *last = copy;
    last = &copy->next;
    free_oldest_copies();
    return MPI_SUCCESS;
}

/* The note goes before the message. */
static struct rp_message_note *announce(const struct rp_det_comm *comm, int dest, int tag,
                                        bool is_synchronous)
{
    struct rp_message_note *note = rp_shared_new_note();

    note->stamp = rp_shared_now();
    note->comm = comm->id;
    note->tag = tag;
    note->from = comm->from;
    note->source = rp_shared_side.rank;
    note->dest = comm->world[dest];
    note->is_synchronous = is_synchronous;
    note->site = rp_det_site();
    rp_det_count_sent(note->dest);
    rp_shared_push(comm->world[dest], note);
    rp_shared_tick(1);
    return note;
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

static int real_issend(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                       MPI_Comm comm, MPI_Request *request)
{
#if MPI_VERSION >= 4
    if (count > INT_MAX)
        return rp_pmpi.Issend_c(buf, count, type, dest, tag, comm, request);
#endif
    return rp_pmpi.Issend(buf, (int)count, type, dest, tag, comm, request);
}

static bool is_direct(const struct rp_det_comm *comm, int dest, uint64_t bytes)
{
    return comm->world[dest] != rp_shared_side.rank && bytes <= DIRECT;
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
        wait_for_room(bytes);
    return send_copy(buf, count, type, bytes, dest, tag, comm);
}

static bool is_taken(void *data, bool only_whether)
{
    (void)only_whether;
    return atomic_load(&((struct rp_message_note *)data)->taken) == RP_TAKEN;
}

/* Until the receiver has taken it. */
static void wait_for_taker(struct rp_message_note *note, uint32_t dest)
{
    struct rp_det_wait wait = {.kind = RP_SHARED_TAKER,
                               .target = dest,
                               .candidate = RP_SEND_NEVER,
                               .object = rp_shared_place(note),
                               .what = rp_det.function};

    rp_det_wait(is_taken, note, &wait);
    rp_shared_raise(atomic_load(&note->taken_at) + rp_shared_side.latency);
    rp_shared_give_back(note);
}

/* NULL: not ours to see. */
static const struct rp_det_comm *comm_to_send(MPI_Count count, MPI_Datatype type, int dest,
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
    const struct rp_det_comm *c = comm_to_send(count, type, dest, comm);
    uint64_t bytes = c ? bytes_of(count, type) : 0;
    MPI_Request real;

    if (!c || tag < 0)
        return rp_pmpi.Send(buf, (int)count, type, dest, tag, comm);
    if (!is_synchronous(mode, bytes)) {
        announce(c, dest, tag, false);
        return send_away(mode, buf, count, type, bytes, dest, tag, c);
    }
    struct rp_message_note *note = announce(c, dest, tag, true);
    int rc = real_issend(buf, count, type, dest, tag, comm, &real);
    if (rc != MPI_SUCCESS)
        return rc;
    wait_for_taker(note, c->world[dest]);
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
    const struct rp_det_comm *c = comm_to_send(count, type, dest, comm);
    uint64_t bytes = c ? bytes_of(count, type) : 0;

    if (!c || tag < 0)
        return rp_det_new_handle(rp_pmpi.Isend(buf, (int)count, type, dest, tag, comm, request),
                                 request);
    if (!is_synchronous(mode, bytes)) {
        announce(c, dest, tag, false);
        if (mode == RP_DET_STANDARD && is_direct(c, dest, bytes))
            return rp_det_new_handle(rp_pmpi.Isend(buf, (int)count, type, dest, tag, comm, request),
                                     request);
        int rc = send_away(mode, buf, count, type, bytes, dest, tag, c);
        return rc == MPI_SUCCESS ? complete_request(request) : rc;
    }
    struct rp_det_request *own = rp_det_request_new(RP_DET_SEND);
    own->note = announce(c, dest, tag, true);
    own->dest = c->world[dest];
    int rc = real_issend(buf, count, type, dest, tag, comm, request);
    if (rc == MPI_SUCCESS)
        rp_det_request_note(*request, own);
    return rc;
}

/* An exchange is a send under way, a receive, and the wait for the first. */
int rp_det_sendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request send, receive;

    if (dest != MPI_PROC_NULL && (sendtag < 0 || !comm_to_send(sendcount, sendtype, dest, comm)))
        return rp_pmpi.Sendrecv(sendbuf, (int)sendcount, sendtype, dest, sendtag, recvbuf,
                                (int)recvcount, recvtype, source, recvtag, comm, status);
    if (source == MPI_PROC_NULL) {
        int sent = rp_det_send(RP_DET_STANDARD, sendbuf, sendcount, sendtype, dest, sendtag, comm);
        return sent != MPI_SUCCESS
                   ? sent
                   : rp_real_recv(recvbuf, recvcount, recvtype, source, recvtag, comm, status);
    }
    int rc = rp_det_irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &receive);

    if (rc != MPI_SUCCESS)
        return rc;
    rc = rp_det_isend(RP_DET_STANDARD, sendbuf, sendcount, sendtype, dest, sendtag, comm, &send);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = rp_det_wait_one(&receive, status);
    int sent = rp_det_wait_one(&send, MPI_STATUS_IGNORE);
    return rc != MPI_SUCCESS ? rc : sent;
}

int rp_det_sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag,
                            int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    int room = 0, packed = 0;
    int rc = rp_pmpi.Pack_size((int)count, type, comm, &room);
    char *copy = rc == MPI_SUCCESS ? malloc(room > 0 ? (size_t)room : 1) : NULL;

    if (!copy)
        return rc == MPI_SUCCESS ? MPI_ERR_NO_MEM : rc;
    rc = pack(buf, count, type, copy, room, &packed, comm);
    if (rc == MPI_SUCCESS)
        rc = rp_det_sendrecv(copy, packed, rp_constant.packed, dest, sendtag, buf, count, type,
                             source, recvtag, comm, status);
    free(copy);
    return rc;
}
