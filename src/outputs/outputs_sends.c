/* SPDX-License-Identifier: MIT */
/* Digests of sends. The data of a persistent send is digested when the request is started, so its
 * arguments are kept by request. */
#include <stddef.h>

#include "base/array.h"
#include "outputs/outputs.h"
#include "preload/constants.h"

struct made {
    MPI_Request request;
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
    int dest;
};

static struct made *made;
static size_t made_count;

void rp_outputs_send(const void *buf, MPI_Count count, MPI_Datatype type, int dest)
{
    rp_outputs_start();
    if (dest != MPI_PROC_NULL)
        rp_outputs_add(buf, count, type);
    rp_outputs_digest(dest);
}

static struct made *find(MPI_Request request)
{
    for (size_t i = 0; i < made_count; i++)
        if (made[i].request == request)
            return &made[i];
    return NULL;
}

void rp_outputs_made(MPI_Request request, const void *buf, MPI_Count count, MPI_Datatype type,
                     int dest)
{
    if (rp_outputs_inside || !rp_array_grow((void **)&made, made_count, sizeof *made))
        return;
    made[made_count++] = (struct made){request, buf, count, type, dest};
}

void rp_outputs_started(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        const struct made *m = find(requests[i]);
        if (m)
            rp_outputs_send(m->buf, m->count, m->type, m->dest);
    }
}

void rp_outputs_freed(const MPI_Request *request)
{
    struct made *m = request ? find(*request) : NULL;

    if (m)
        *m = made[--made_count];
}

void rp_outputs_written(const void *buf, MPI_Count count, MPI_Datatype type)
{
    rp_outputs_start();
    rp_outputs_add(buf, count, type);
    rp_outputs_digest(MPI_PROC_NULL);
}
