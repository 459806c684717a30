/* SPDX-License-Identifier: MIT */
#include "det/det_device.h"

#include <stdlib.h>

#include "base/diagnostics.h"
#include "preload/device_types.h"

static void *need(void *memory)
{
    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory for a reduction");
    return memory;
}

/* Copies elements between buffers of the same datatype, one of which is in device memory. */
static void copy_elements(const void *from, void *into, MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;

    rp_pmpi.Type_size_x(type, &size);
    size_t bytes = (size_t)(size * count);
    void *packed = need(malloc(bytes + 1));
    rp_device_pack(from, count, type, packed, bytes);
    rp_device_unpack(packed, bytes, into, count, type);
    free(packed);
}

/* Returns a copy that looks like the original; *memory gets what to free. */
static void *copy_of(const void *buf, MPI_Count count, MPI_Datatype type, void **memory)
{
    MPI_Count lower, extent, true_lower, true_extent;

    rp_pmpi.Type_get_extent_x(type, &lower, &extent);
    rp_pmpi.Type_get_true_extent_x(type, &true_lower, &true_extent);
    MPI_Count more = extent * (count - 1), low = true_lower + (more < 0 ? more : 0);
    *memory = need(calloc(1, (size_t)(true_extent + (more < 0 ? -more : more) + 1)));
    void *copy = (void *)((uintptr_t)*memory - (uintptr_t)low);
    copy_elements(buf, copy, count, type);
    return copy;
}

void rp_det_to_host(struct rp_det_on_host *on_host, const void **from, MPI_Count given, void **into,
                    MPI_Count taken, MPI_Datatype type)
{
    MPI_Count in_result = *from == MPI_IN_PLACE && given > taken ? given : taken;

    *on_host = (struct rp_det_on_host){0};
    if (*from != MPI_IN_PLACE && rp_device_holds(*from, given, type))
        *from = copy_of(*from, given, type, &on_host->from_memory);
    if (!rp_device_holds(*into, in_result, type))
        return;
    on_host->into = *into;
    *into = on_host->copy = copy_of(*into, in_result, type, &on_host->into_memory);
}

void rp_det_from_host(struct rp_det_on_host *on_host, MPI_Count taken, MPI_Datatype type)
{
    if (on_host->into_memory)
        copy_elements(on_host->copy, on_host->into, taken, type);
    free(on_host->from_memory);
    free(on_host->into_memory);
}
