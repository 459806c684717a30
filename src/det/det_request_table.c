/* SPDX-License-Identifier: MIT */
/*
 * A handle that was completed or freed stays in the table as such until MPI returns it again: a
 * program that uses it meanwhile would wait for ever, or for an unrelated request.
 *
 * A receive that is made later gets a placeholder: an inactive persistent request, which has a
 * handle of its own.
 */
#include "det/det_request_table.h"

#include <stdlib.h>

#include "base/diagnostics.h"
#include "det/det_mismatch.h"
#include "det/det_sites.h"
#include "preload/constants.h"
#include "preload/family.h"
#include "preload/requests.h"

/* Beside enum rp_request_flag. */
enum { IS_COMPLETE = 1 << 16, IS_FREED = 1 << 17, IS_OVER = IS_COMPLETE | IS_FREED };

static struct {
    struct rp_requests table;
    struct {
        MPI_Request *at;
        size_t count, room;
    } placeholders;   /* that are free */
    unsigned retired; /* placeholders */
    struct {
        MPI_Request handle; /* found by trying; null: none */
        uint64_t live;
    } shared; /* sends that are complete at once may have one handle together: how many of these has
                 the program not completed? */
} requests;

void rp_det_requests_start(void)
{
    rp_requests_init(&requests.table);
}

struct rp_det_request *rp_det_request_new(enum rp_det_request_kind kind)
{
    struct rp_det_request *own = malloc(sizeof *own);

    if (!own)
        rp_bug(__FILE__, __LINE__, "out of memory for a request");
    *own = (struct rp_det_request){.kind = kind,
                                   .is_active = true,
                                   .receive.real = rp_constant.request_null};
    return own;
}

#if RP_POINTER_HANDLES
/* Open MPI has one such request, from version 6 on another one for sends; MPICH has one for each
 * kind of operation, in a row of numbers. */
static bool is_built_in(MPI_Request handle)
{
    static const void *empty, *empty_send;
    static bool is_found; /* looked for once */

    if (!is_found) {
        empty = rp_library_object("ompi_request_empty");
        empty_send = rp_library_object("ompi_request_empty_send");
    }
    is_found = true;
    if (!empty)
        return RP_HANDLE_BITS(handle) >> 30 == 1;
    return handle && ((const void *)handle == empty || (const void *)handle == empty_send);
}
#else
static bool is_built_in(MPI_Request handle)
{
    return (unsigned)handle >> 30 == 1;
}
#endif

static bool is_shared(MPI_Request handle)
{
    return is_built_in(handle) ||
           (handle == requests.shared.handle && handle != rp_constant.request_null);
}

void rp_det_requests_learn(void)
{
    MPI_Request two[2];

    for (int i = 0; i < 2; i++)
        rp_pmpi.Isend(NULL, 0, rp_constant.byte, MPI_PROC_NULL, 0, rp_det.own, &two[i]);
    requests.shared.handle = two[0] == two[1] ? two[0] : rp_constant.request_null;
    for (int i = 0; i < 2; i++)
        rp_pmpi.Wait(&two[i], MPI_STATUS_IGNORE);
}

void rp_det_request_enter(MPI_Request handle, struct rp_det_request *own)
{
    struct rp_request *entry = rp_requests_entry(&requests.table, handle);

    requests.shared.live += is_shared(handle);
    entry->note = own;
    entry->flags = RP_REQUEST_RECEIVE;
}

static struct rp_request *find_entry(MPI_Request handle)
{
    return handle == rp_constant.request_null ? NULL : rp_requests_find(&requests.table, handle);
}

struct rp_det_request *rp_det_request_find(MPI_Request handle)
{
    struct rp_request *entry = find_entry(handle);

    if (__builtin_expect(entry && entry->flags & IS_OVER, 0))
        rp_det_report_stale(entry->flags & IS_FREED ? "was freed" : "is complete already",
                            (uint32_t)entry->post);
    if (__builtin_expect(is_shared(handle) && requests.shared.live == 0, 0))
        rp_det_report_stale("is complete already, or was freed", UINT32_MAX);
    return entry && entry->flags ? entry->note : NULL;
}

int rp_det_new_handle(int rc, const MPI_Request *request)
{
    struct rp_request *entry = rc == MPI_SUCCESS ? find_entry(*request) : NULL;

    if (rc == MPI_SUCCESS)
        requests.shared.live += is_shared(*request);
    if (entry && entry->flags & IS_OVER)
        entry->flags = 0;
    return rc;
}

static void end_handle(MPI_Request handle, int how)
{
    bool was_shared = is_shared(handle);
    struct rp_request *entry =
        was_shared ? find_entry(handle) : rp_requests_entry(&requests.table, handle);

    requests.shared.live -= was_shared;
    if (!entry)
        return;
    entry->note = NULL;
    entry->post = how == IS_FREED ? rp_det_site() : UINT32_MAX;
    entry->flags = was_shared ? 0 : (uint64_t)how;
}

void rp_det_request_completed(MPI_Request handle)
{
    end_handle(handle, IS_COMPLETE);
}

void rp_det_request_freed(MPI_Request handle)
{
    end_handle(handle, IS_FREED);
}

/* Placeholders */

MPI_Request rp_det_placeholder(void)
{
    MPI_Request handle;

    if (requests.placeholders.count > 0)
        return requests.placeholders.at[--requests.placeholders.count];
    rp_pmpi.Recv_init(NULL, 0, rp_constant.byte, MPI_PROC_NULL, 0, rp_det.own, &handle);
    return handle;
}

void rp_det_placeholder_return(MPI_Request handle)
{
    if (requests.placeholders.count == requests.placeholders.room) {
        requests.placeholders.room =
            requests.placeholders.room ? requests.placeholders.room * 2 : 64;
        requests.placeholders.at =
            realloc(requests.placeholders.at,
                    requests.placeholders.room * sizeof *requests.placeholders.at);
        if (!requests.placeholders.at)
            rp_bug(__FILE__, __LINE__, "out of memory for requests");
    }
    requests.placeholders.at[requests.placeholders.count++] = handle;
}

/* The handle of a receive that was freed is not used again soon. */
void rp_det_placeholder_retire(MPI_Request handle)
{
    enum { MOST = 4096 };

    if (requests.retired < MOST)
        requests.retired++;
    else
        rp_det_placeholder_return(handle);
}
