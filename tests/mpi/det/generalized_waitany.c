/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: same
// about: MPI_Waitany over a generalized request that another thread completes, and one that is
//     complete later: no deadlock, though no message is under way
#include <pthread.h>

#include "../check.h"

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void *complete(void *request)
{
    check_sleep_ms(300);
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Request request[2], copy;
    pthread_t other;
    int index = -1;

    if (check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE)
        return check_skip();
    MPI_Grequest_start(query, release, cancel, NULL, &request[0]);
    MPI_Grequest_start(query, release, cancel, NULL, &request[1]);
    copy = request[1];
    pthread_create(&other, NULL, complete, &copy);
    MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
    check_note((uint64_t)index);
    pthread_join(other, NULL);
    MPI_Grequest_complete(request[0]);
    MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
    check_note((uint64_t)index);
    return check_end();
}
