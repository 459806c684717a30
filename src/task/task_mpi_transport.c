/* SPDX-License-Identifier: MIT */
/* Sends are nonblocking; what is received is probed for. */
#include "task/task_mpi_transport.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"

enum { TAG = 0, UNDER_WAY = 64 };

/* Sends that are under way, with their parcels. */
static struct {
    MPI_Comm comm;
    MPI_Request *requests;
    struct rp_parcel **parcels;
    int count, room;
} sends;

bool rp_mpi_transport_complete(void)
{
    int kept = 0;

    for (int i = 0; i < sends.count; i++) {
        int flag = 0;
        int rc = MPI_Test(&sends.requests[i], &flag, MPI_STATUS_IGNORE);
        if (flag || rc != MPI_SUCCESS) { /* failed: its receiver is dead */
            rp_parcel_drop(sends.parcels[i]);
            continue;
        }
        sends.requests[kept] = sends.requests[i];
        sends.parcels[kept++] = sends.parcels[i];
    }
    sends.count = kept;
    return kept > 0;
}

static void mpi_send(void *data, int process, struct rp_parcel *parcel)
{
    (void)data;
    if (sends.count == sends.room) {
        rp_mpi_transport_complete();
        if (sends.count >= sends.room / 2) {
            sends.room = sends.room ? 2 * sends.room : UNDER_WAY;
            sends.requests = realloc(sends.requests, (size_t)sends.room * sizeof *sends.requests);
            sends.parcels = realloc(sends.parcels, (size_t)sends.room * sizeof *sends.parcels);
            RP_BUG_ON(!sends.requests || !sends.parcels);
        }
    }
    if (MPI_Isend(parcel->bytes, (int)parcel->length, MPI_BYTE, process, TAG, sends.comm,
                  &sends.requests[sends.count]) != MPI_SUCCESS) {
        rp_parcel_drop(parcel);
        return;
    }
    sends.parcels[sends.count++] = parcel;
}

static struct rp_parcel *mpi_receive(void *data, int *process)
{
    MPI_Status status;
    MPI_Message message;
    int flag = 0, length;

    (void)data;
    if (MPI_Improbe(MPI_ANY_SOURCE, TAG, sends.comm, &flag, &message, &status) != MPI_SUCCESS ||
        !flag)
        return NULL;
    MPI_Get_count(&status, MPI_BYTE, &length);
    struct rp_parcel *parcel = rp_parcel_new((size_t)length);
    *process = status.MPI_SOURCE;
    if (MPI_Mrecv(parcel->bytes, length, MPI_BYTE, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        return parcel;
    rp_parcel_drop(parcel); /* its sender is dead */
    return NULL;
}

struct rp_transport rp_mpi_transport(MPI_Comm comm, void (*fail)(void *data, const char *why))
{
    sends.comm = comm;
    return (struct rp_transport){mpi_send, mpi_receive, fail, true, NULL};
}

void rp_mpi_transport_free(void)
{
    free(sends.requests);
    free(sends.parcels);
    memset(&sends, 0, sizeof sends);
}
