/* SPDX-License-Identifier: MIT */
/*
 * A buffer for buffered sends that is just large enough for the program's messages is too small for
 * their stamps. So MPI gets one of ours, larger by a stamp for as many messages as the program's
 * has room for: each takes at least MPI_BSEND_OVERHEAD. The program gets its own back.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/diagnostics.h"
#include "cdc/piggyback/piggyback_entries.h"

enum { MORE = 32 }; /* for a message: the stamp, and what alignment may make of it */

static struct {
    void *theirs, *ours;
    MPI_Count size;
} attached;

#ifndef MPI_BUFFER_AUTOMATIC
#define MPI_BUFFER_AUTOMATIC NULL
#endif

/* There is nothing to enlarge if MPI makes the buffer itself. */
static bool is_none(const void *buffer)
{
    return !buffer || buffer == MPI_BUFFER_AUTOMATIC;
}

static MPI_Count enlarged(MPI_Count size)
{
    return size + (size / MPI_BSEND_OVERHEAD + 1) * MORE;
}

static void *make(MPI_Count size)
{
    void *ours = malloc((size_t)size);

    if (!ours)
        rp_bug(__FILE__, __LINE__, "out of memory for an attached buffer");
    return ours;
}

static int keep(int rc, void *theirs, void *ours, MPI_Count size)
{
    if (rc != MPI_SUCCESS)
        free(ours);
    else
        attached.theirs = theirs, attached.ours = ours, attached.size = size;
    return rc;
}

/* `buffer`: where the address goes. */
static MPI_Count give_back(void *buffer)
{
    *(void **)buffer = attached.theirs;
    free(attached.ours);
    attached.ours = NULL;
    return attached.size;
}

int rp_piggyback_Buffer_attach(int (*real)(void *, int), void *buffer, int size)
{
    if (is_none(buffer) || size < 0 || enlarged(size) > INT_MAX)
        return real(buffer, size);
    void *ours = make(enlarged(size));
    return keep(real(ours, (int)enlarged(size)), buffer, ours, size);
}

int rp_piggyback_Buffer_detach(int (*real)(void *, int *), void *buffer, int *size)
{
    int rc = real(buffer, size);

    if (rc == MPI_SUCCESS && attached.ours)
        *size = (int)give_back(buffer);
    return rc;
}

#if RP_HAS_LARGE_COUNTS
int rp_piggyback_Buffer_attach_c(int (*real)(void *, MPI_Count), void *buffer, MPI_Count size)
{
    if (is_none(buffer) || size < 0)
        return real(buffer, size);
    void *ours = make(enlarged(size));
    return keep(real(ours, enlarged(size)), buffer, ours, size);
}

int rp_piggyback_Buffer_detach_c(int (*real)(void *, MPI_Count *), void *buffer, MPI_Count *size)
{
    int rc = real(buffer, size);

    if (rc == MPI_SUCCESS && attached.ours)
        *size = give_back(buffer);
    return rc;
}
#endif
