/* SPDX-License-Identifier: MIT */
/* The functions of large counts are used for what others cannot do, and for nothing else. */
#include "partial/partial_packing.h"

#include <limits.h>

#include "base/diagnostics.h"
#include "reprise.h"

static bool is_long(MPI_Count count, size_t bytes)
{
    return count > INT_MAX || bytes > INT_MAX;
}

static __attribute__((unused, noreturn)) void refuse(void)
{
    rp_error("a message of 2 GiB or more that is not of a contiguous type cannot be recorded for a "
             "replay alone, because this MPI has no MPI_Pack_c");
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}

size_t rp_packing_room(MPI_Count count, MPI_Datatype type, size_t size)
{
    int room = 0;

    if (!is_long(count, (size_t)count * size) &&
        rp_pmpi.Pack_size((int)count, type, rp_constant.self, &room) == MPI_SUCCESS)
        return (size_t)room;
#if RP_HAS_LARGE_COUNTS
    MPI_Count long_room = 0;
    rp_pmpi.Pack_size_c(count, type, rp_constant.self, &long_room);
    return (size_t)long_room;
#else
    refuse();
#endif
}

static void pack(const void *buf, MPI_Count count, MPI_Datatype type, void *packed, size_t room,
                 MPI_Count *at)
{
    int position = 0;

#if RP_HAS_LARGE_COUNTS
    if (is_long(count, room)) {
        rp_pmpi.Pack_c(buf, count, type, packed, (MPI_Count)room, at, rp_constant.self);
        return;
    }
#endif
    rp_pmpi.Pack(buf, (int)count, type, packed, (int)room, &position, rp_constant.self);
    *at = position;
}

static void unpack(const void *packed, size_t bytes, void *buf, MPI_Count count, MPI_Datatype type)
{
    int position = 0;

#if RP_HAS_LARGE_COUNTS
    MPI_Count at = 0;
    if (is_long(count, bytes)) {
        rp_pmpi.Unpack_c(packed, (MPI_Count)bytes, &at, buf, count, type, rp_constant.self);
        return;
    }
#endif
    rp_pmpi.Unpack(packed, (int)bytes, &position, buf, (int)count, type, rp_constant.self);
}

/* MPICH packs nothing at MPI_BOTTOM: absolute addresses become such from another base. */
static MPI_Datatype at_base(const char *base, MPI_Count count, MPI_Datatype type)
{
    MPI_Datatype moved;

#if RP_HAS_LARGE_COUNTS
    MPI_Count back = -(MPI_Count)(intptr_t)base;
    rp_pmpi.Type_create_hindexed_c(1, &count, &back, type, &moved);
#else
    MPI_Aint back = -(MPI_Aint)(intptr_t)base;
    rp_pmpi.Type_create_hindexed(1, &(int){(int)count}, &back, type, &moved);
#endif
    rp_pmpi.Type_commit(&moved);
    return moved;
}

size_t rp_packing_pack(const void *buf, MPI_Count count, MPI_Datatype type, void *packed,
                       size_t room)
{
    MPI_Count at = 0;
    char base[1];

    if (buf) {
        pack(buf, count, type, packed, room, &at);
        return (size_t)at;
    }
    MPI_Datatype moved = at_base(base, count, type);
    pack(base, 1, moved, packed, room, &at);
    rp_pmpi.Type_free(&moved);
    return (size_t)at;
}

void rp_packing_unpack(const void *packed, size_t bytes, void *buf, MPI_Count count,
                       MPI_Datatype type)
{
    char base[1];

    if (buf) {
        unpack(packed, bytes, buf, count, type);
        return;
    }
    MPI_Datatype moved = at_base(base, count, type);
    unpack(packed, bytes, base, 1, moved);
    rp_pmpi.Type_free(&moved);
}
