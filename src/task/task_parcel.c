/* SPDX-License-Identifier: MIT */
#include "task/task_parcel.h"

#include <stdlib.h>

#include "base/diagnostics.h"

struct rp_parcel *rp_parcel_new(size_t length)
{
    struct rp_parcel *parcel = malloc(sizeof *parcel + length);

    if (!parcel || length > UINT32_MAX)
        rp_bug(__FILE__, __LINE__, "no memory for a message");
    *parcel = (struct rp_parcel){.users = 1, .length = (uint32_t)length};
    return parcel;
}

struct rp_parcel *rp_parcel_in(struct rp_arenas *arenas, size_t length)
{
    struct rp_arena *from;
    struct rp_parcel *parcel = rp_arena_take(arenas, sizeof *parcel + length, &from);

    if (!parcel || length > UINT32_MAX)
        rp_bug(__FILE__, __LINE__, "no memory for a message");
    *parcel = (struct rp_parcel){.users = 1, .length = (uint32_t)length, .arena = from};
    return parcel;
}

void rp_parcel_drop(struct rp_parcel *parcel)
{
    if (--parcel->users > 0)
        return;
    if (parcel->arena)
        rp_arena_give(parcel->arena);
    else
        free(parcel);
}
