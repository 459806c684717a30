/* SPDX-License-Identifier: MIT */
/*
 * The pending pairs, by the program's handle, and how they begin. The receive is posted before
 * the send, so that it can be withdrawn if the send turns out to be wrong; MPI_Isendrecv_replace
 * sends a copy, packed before the receive can overwrite it.
 *
 * A receive from MPI_PROC_NULL has no handle of its own in either MPI. There the program's request
 * is that of the send while it is pending, which is unique, or else the complete one of the
 * receive; the status is then ours in any case (MPICH 4.0 sets the source of such a receive to 0).
 */
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/diagnostics.h"
#include "compound/pairs.h"
#include "compound/compound_start.h"
#include "peers/peer_det.h"
#include "peers/peer_reprise.h"
#include "preload/constants.h"
#include "preload/device_types.h"
#include "preload/requests.h"

unsigned rp_pairs_pending;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the table; held in no call of MPI */
static struct rp_requests table;

/* The table */

static struct rp_pair *find(MPI_Request handle)
{
    struct rp_request *entry = table.slots ? rp_requests_find(&table, handle) : NULL;

    return entry && entry->flags ? entry->note : NULL;
}

struct rp_pair *rp_pair_find(MPI_Request handle)
{
    if (handle == rp_constant.request_null)
        return NULL;
    pthread_mutex_lock(&lock);
    struct rp_pair *pair = find(handle);
    pthread_mutex_unlock(&lock);
    return pair;
}

/* The pair of this handle; a new one if there is none. */
static struct rp_pair *add_pair(MPI_Request handle)
{
    struct rp_request *entry = rp_requests_entry(&table, handle);

    if (entry->flags)
        return entry->note;
    entry->note = calloc(1, sizeof(struct rp_pair));
    if (!entry->note)
        rp_bug(__FILE__, __LINE__, "out of memory for a request");
    entry->flags = RP_REQUEST_RECEIVE;
    __atomic_add_fetch(&rp_pairs_pending, 1, __ATOMIC_RELAXED);
    return entry->note;
}

static void remove_pair(MPI_Request handle)
{
    struct rp_request *entry = rp_requests_find(&table, handle);
    struct rp_pair *pair = entry->note;

    if (pair->proc_nulls > 1) {
        pair->proc_nulls--;
        return;
    }
    entry->flags = 0;
    entry->note = NULL;
    free(pair);
    __atomic_sub_fetch(&rp_pairs_pending, 1, __ATOMIC_RELAXED);
}

/* With the lock. MPI may return a handle whose receive another thread has just completed: that
 * thread is about to remove its pair. */
static void await_handle(MPI_Request handle)
{
    enum { TRIES = 200000 };
    struct timespec pause = {0, 50000};

    for (int i = 0; find(handle); i++) {
        if (i == TRIES)
            rp_bug(__FILE__, __LINE__, "two receives under way have the same handle");
        pthread_mutex_unlock(&lock);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&lock);
    }
}

static void keep_pair(MPI_Request receive, MPI_Request send, void *copy)
{
    pthread_mutex_lock(&lock);
    await_handle(receive);
    struct rp_pair *pair = add_pair(receive);
    pair->send = send;
    pair->copy = copy;
    pthread_mutex_unlock(&lock);
}

static void keep_proc_nulls(MPI_Request handle, void *copy)
{
    pthread_mutex_lock(&lock);
    struct rp_pair *pair = add_pair(handle);
    pair->send = rp_constant.request_null;
    if (pair->proc_nulls++ == 0)
        pair->copy = copy;
    pthread_mutex_unlock(&lock);
}

void rp_pair_set_proc_null(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = MPI_PROC_NULL;
    status->MPI_TAG = MPI_ANY_TAG;
    rp_pmpi.Status_set_elements(status, rp_constant.byte, 0);
}

int rp_pair_completed(MPI_Request handle, MPI_Status *status, int rc)
{
    struct rp_pair *pair = rp_pair_find(handle);

    if (!pair)
        return rc;
    if (pair->proc_nulls)
        rp_pair_set_proc_null(status);
    int error = rc != MPI_SUCCESS ? rc : pair->send_error;
    pthread_mutex_lock(&lock);
    if (pair->proc_nulls <= 1)
        free(pair->copy);
    remove_pair(handle);
    pthread_mutex_unlock(&lock);
    return error;
}

/* Its copy may be under way, and nothing shows when it is not any more. */
void rp_pair_drop(MPI_Request handle)
{
    pthread_mutex_lock(&lock);
    remove_pair(handle);
    pthread_mutex_unlock(&lock);
}

void reprise_compound_forget(void)
{
    pthread_mutex_lock(&lock);
    for (uint64_t i = 0; table.slots && i < rp_requests_room(&table); i++) {
        if (table.slots[i].flags)
            free(table.slots[i].note);
        table.slots[i].flags = 0;
    }
    rp_pairs_pending = 0;
    pthread_mutex_unlock(&lock);
}

/* The two calls */

static int irecv(const struct rp_next *next, void *buf, MPI_Count count, MPI_Datatype type,
                 int source, int tag, MPI_Comm comm, MPI_Request *request)
{
#if RP_HAS_LARGE_COUNTS
    if (count > INT_MAX)
        return next->Irecv_c(buf, count, type, source, tag, comm, request);
#endif
    return next->Irecv(buf, (int)count, type, source, tag, comm, request);
}

static int isend(const struct rp_next *next, const void *buf, MPI_Count count, MPI_Datatype type,
                 int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
#if RP_HAS_LARGE_COUNTS
    if (count > INT_MAX)
        return next->Isend_c(buf, count, type, dest, tag, comm, request);
#endif
    return next->Isend(buf, (int)count, type, dest, tag, comm, request);
}

static void prepare(void)
{
    pthread_mutex_lock(&lock);
    if (!table.slots) {
        rp_compound_prepare();
        rp_requests_init(&table);
        if (reprise_receives_may_be_cancelled) /* `withdraw` does */
            reprise_receives_may_be_cancelled();
    }
    pthread_mutex_unlock(&lock);
}

static void withdraw(const struct rp_next *next, MPI_Request *receive)
{
    next->Cancel(receive);
    next->Wait(receive, MPI_STATUS_IGNORE);
}

/* The receive is complete already. */
static int keep_send(const struct rp_next *next, MPI_Request receive, MPI_Request send, void *copy,
                     MPI_Request *request)
{
    int is_sent = 0, rc = next->Test(&send, &is_sent, MPI_STATUS_IGNORE);

    if (is_sent) {
        free(copy);
        copy = NULL;
    } else {
        next->Wait(&receive, MPI_STATUS_IGNORE);
    }
    *request = is_sent ? receive : send;
    keep_proc_nulls(*request, copy);
    return rc;
}

/* `copy`: what is sent, ours if all goes well; or NULL. */
static int begin(const struct rp_next *next, void *copy, const void *sendbuf, MPI_Count sendcount,
                 MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                 MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                 MPI_Request *request)
{
    MPI_Request receive, send;
    int rc = irecv(next, recvbuf, recvcount, recvtype, source, recvtag, comm, &receive);

    if (rc != MPI_SUCCESS)
        return rc;
    rc = isend(next, sendbuf, sendcount, sendtype, dest, sendtag, comm, &send);
    if (rc != MPI_SUCCESS) {
        withdraw(next, &receive);
        return rc;
    }
    if (source == MPI_PROC_NULL)
        return keep_send(next, receive, send, copy, request);
    keep_pair(receive, send, copy);
    *request = receive;
    return MPI_SUCCESS;
}

int rp_pair_begin(const struct rp_next *next, const void *sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                  MPI_Request *request)
{
    prepare();
    return begin(next, NULL, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                 recvtype, source, recvtag, comm, request);
}

/* Copies */

static int pack(const void *buf, MPI_Count count, MPI_Datatype type, MPI_Comm comm, void **copy,
                MPI_Count *length)
{
    MPI_Count room = 0, used = 0;
    int rc;

#if RP_HAS_LARGE_COUNTS
    rc = rp_pmpi.Pack_size_c(count, type, comm, &room);
#else
    int size = 0;
    rc = rp_pmpi.Pack_size((int)count, type, comm, &size);
    room = size;
#endif
    if (rc != MPI_SUCCESS)
        return rc;
    *copy = malloc((size_t)room + 1);
    if (!*copy)
        rp_bug(__FILE__, __LINE__, "out of memory for a message");
    if (rp_device_holds(buf, count, type)) {
        *length = (MPI_Count)rp_device_pack(buf, count, type, *copy, (size_t)room);
        return MPI_SUCCESS;
    }
#if RP_HAS_LARGE_COUNTS
    rc = rp_pmpi.Pack_c(buf, count, type, *copy, room, &used, comm);
#else
    int at = 0;
    rc = rp_pmpi.Pack(buf, (int)count, type, *copy, (int)room, &at, comm);
    used = at;
#endif
    *length = used;
    return rc;
}

/* Without functions of large counts, what is packed cannot be longer either. */
static bool is_too_long(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;

    return !RP_HAS_LARGE_COUNTS && count > 0 && rp_pmpi.Type_size_x(type, &size) == MPI_SUCCESS &&
           size > INT_MAX / count;
}

int rp_pair_begin_replace(const struct rp_next *next, void *buf, MPI_Count count, MPI_Datatype type,
                          int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
                          MPI_Request *request)
{
    MPI_Count length = 0;
    void *copy = NULL;

    prepare();
    if (is_too_long(count, type))
        rp_compound_refuse("MPI_Isendrecv_replace", "2 GiB or more");
    int rc = dest == MPI_PROC_NULL ? MPI_SUCCESS : pack(buf, count, type, comm, &copy, &length);
    if (rc == MPI_SUCCESS)
        rc = begin(next, copy, copy, length, rp_constant.packed, dest, sendtag, buf, count, type,
                   source, recvtag, comm, request);
    if (rc != MPI_SUCCESS)
        free(copy);
    return rc;
}
