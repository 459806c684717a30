/* SPDX-License-Identifier: MIT */
#include "det/det_copies.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/device_memory.h"
#include "base/diagnostics.h"
#include "match/send_bounds.h"
#include "preload/constants.h"
#include "preload/device_types.h"

struct copy {
    struct copy *next;
    MPI_Request request;
    uint64_t bytes;
    char data[];
};

static struct {
    struct copy *first, **last; /* the oldest first; last: where the next one goes */
    uint64_t bytes;             /* in them */
} copies = {.last = &copies.first};

/* False if it has not left yet. */
static bool free_copy(struct copy **link)
{
    struct copy *copy = *link;
    int done = 0;

    if (!rp_det.keeps_copies)
        rp_pmpi.Test(&copy->request, &done, MPI_STATUS_IGNORE);
    if (!done)
        return false;
    *link = copy->next;
    if (copies.last == &copy->next)
        copies.last = link;
    copies.bytes -= copy->bytes;
    free(copy);
    return true;
}

static void free_sent_copies(void)
{
    for (struct copy **link = &copies.first; *link;)
        if (!free_copy(link))
            link = &(*link)->next;
}

/* Who never waits would keep copies up to the limit. */
static void free_oldest_copies(void)
{
    enum { FEW = 256 << 10 };

    while (copies.bytes > FEW && copies.first && free_copy(&copies.first))
        ;
}

void rp_det_progress(void)
{
    int flag;

    if (copies.first)
        free_sent_copies();
    else
        rp_pmpi.Iprobe(MPI_ANY_SOURCE, 0, rp_det.own, &flag, MPI_STATUS_IGNORE);
}

void rp_det_flush(void)
{
    while (copies.first && !rp_det.keeps_copies) {
        free_sent_copies();
        sched_yield();
    }
}

static bool others_run(void)
{
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (i != rp_shared.rank && rp_shared_clock_of(i) != RP_SEND_NEVER &&
            atomic_load(&rp_shared.all[i].version) % 2 != 0 &&
            !atomic_load(&rp_shared.all[i].is_idle))
            return true;
    return false;
}

/* While others run they may receive what was copied. If none does, the limit has to give way,
 * or we would wait for each other; by far, lest the next message waits as long. */
void rp_det_wait_for_room(uint64_t bytes)
{
    enum { ROUNDS = 50 };

    if (copies.bytes + bytes <= rp_det.buffer_bytes)
        return;
    atomic_store(&rp_shared.own->is_idle, 1); /* who waits here as well does not receive either */
    for (unsigned idle = 0;
         copies.bytes + bytes > rp_det.buffer_bytes && copies.first && idle < ROUNDS;
         idle = others_run() ? 0 : idle + 1) {
        rp_shared_request_updates();
        free_sent_copies();
        sched_yield();
    }
    atomic_store(&rp_shared.own->is_idle, 0);
    rp_shared_stop_updates();
    if (copies.bytes + bytes > rp_det.buffer_bytes)
        rp_det.buffer_bytes = 2 * (copies.bytes + bytes);
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
    rp_device_copy(copy->data, (const char *)buf + low, (size_t)length);
    return rp_pmpi.Isend((const void *)((uintptr_t)copy->data - (uintptr_t)low), (int)count, type,
                         dest, tag, comm, &copy->request);
}

/* MPICH does not pack from MPI_BOTTOM: a message to ourselves does. */
int rp_det_pack(const void *buf, MPI_Count count, MPI_Datatype type, char *into, int room,
                int *position, MPI_Comm comm)
{
    MPI_Status status;
    int self;

    *position = 0;
    if (rp_device_holds(buf, count, type)) {
        *position = (int)rp_device_pack(buf, count, type, into, (size_t)room);
        return MPI_SUCCESS;
    }
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
    int rc = rp_det_pack(buf, count, type, copy->data, room, &position, comm);

    return rc != MPI_SUCCESS ? rc
                             : rp_pmpi.Isend(copy->data, position, rp_constant.packed, dest, tag,
                                             comm, &copy->request);
}

int rp_det_send_copy(const void *buf, MPI_Count count, MPI_Datatype type, uint64_t bytes, int dest,
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
    copies.bytes += bytes;
    copy->next = NULL;
    *copies.last = copy;
    copies.last = &copy->next;
    free_oldest_copies();
    return MPI_SUCCESS;
}
