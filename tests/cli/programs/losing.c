/* SPDX-License-Identifier: MIT */
// Preloaded behind reprise, it does what MPICH does from 4.1 on: MPI_Request_get_status of a
// complete persistent receive shows its status, and makes the receive inactive.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

enum { MOST = 100000 };

static MPI_Request persistent[MOST];
static int count;

static int place_of(MPI_Request request)
{
    int i = 0;

    while (i < count && persistent[i] != request)
        i++;
    return i;
}

int MPI_Recv_init(void *buf, int length, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    int (*real)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        dlsym(RTLD_NEXT, "MPI_Recv_init");
    int rc = real(buf, length, type, source, tag, comm, request);

    if (rc == MPI_SUCCESS && place_of(*request) == count && count < MOST)
        persistent[count++] = *request;
    return rc;
}

int MPI_Request_free(MPI_Request *request)
{
    int (*real)(MPI_Request *) = dlsym(RTLD_NEXT, "MPI_Request_free"), place = place_of(*request);

    if (place < count)
        persistent[place] = persistent[--count];
    return real(request);
}

static int ask(const char *name, MPI_Request request, int *flag, MPI_Status *status)
{
    int (*real)(MPI_Request, int *, MPI_Status *) = dlsym(RTLD_NEXT, name);
    int (*wait)(MPI_Request *, MPI_Status *) = dlsym(RTLD_NEXT, "PMPI_Wait");
    int rc = real(request, flag, status);

    if (rc == MPI_SUCCESS && *flag && place_of(request) < count)
        wait(&request, MPI_STATUS_IGNORE);
    return rc;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    return ask("MPI_Request_get_status", request, flag, status);
}

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    return ask("PMPI_Request_get_status", request, flag, status);
}
