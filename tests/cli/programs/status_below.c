/* SPDX-License-Identifier: MIT */
// The functions of MPI 4.1 that are made of MPI_Request_get_status, for an MPI that has them not.
// reprise stands in front of them, so under it nobody may call them. They do not tell inactive
// persistent requests from complete ones.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#if MPI_VERSION * 10 + MPI_SUBVERSION < 41

static void look(void)
{
    if (getenv("REPRISE_MODE") || getenv("REPRISE_DET") || getenv("REPRISE_FT_RANKS")) {
        fprintf(stderr, "BELOW: the library's own function is called\n");
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
}

int MPI_Request_get_status_any(int count, const MPI_Request *requests, int *index, int *flag,
                               MPI_Status *status);
int MPI_Request_get_status_all(int count, const MPI_Request *requests, int *flag,
                               MPI_Status *statuses);
int MPI_Request_get_status_some(int count, const MPI_Request *requests, int *outcount, int *indices,
                                MPI_Status *statuses);

int MPI_Request_get_status_any(int count, const MPI_Request *requests, int *index, int *flag,
                               MPI_Status *status)
{
    int active = 0;

    look();
    for (int i = 0; i < count; i++) {
        active += requests[i] != MPI_REQUEST_NULL;
        *index = i;
        if (requests[i] != MPI_REQUEST_NULL &&
            MPI_Request_get_status(requests[i], flag, status) == MPI_SUCCESS && *flag)
            return MPI_SUCCESS;
    }
    *index = MPI_UNDEFINED;
    *flag = !active;
    return *flag ? MPI_Request_get_status(MPI_REQUEST_NULL, flag, status) : MPI_SUCCESS;
}

int MPI_Request_get_status_all(int count, const MPI_Request *requests, int *flag,
                               MPI_Status *statuses)
{
    look();
    *flag = 1;
    for (int i = 0; i < count && *flag; i++)
        MPI_Request_get_status(requests[i], flag,
                               statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    return MPI_SUCCESS;
}

int MPI_Request_get_status_some(int count, const MPI_Request *requests, int *outcount, int *indices,
                                MPI_Status *statuses)
{
    int active = 0, flag;

    look();
    *outcount = 0;
    for (int i = 0; i < count; i++) {
        active += requests[i] != MPI_REQUEST_NULL;
        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        MPI_Request_get_status(requests[i], &flag,
                               statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE
                                                               : &statuses[*outcount]);
        if (flag)
            indices[(*outcount)++] = i;
    }
    if (!active)
        *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

#endif
