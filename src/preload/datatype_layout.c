/* SPDX-License-Identifier: MIT */
/*
 * Both tables are caches by handle: what they do not have is asked of MPI, or made, again. Programs
 * use the same buffers over and over, and so do we our stamps, so that most joined types are found.
 * A type that is replaced in the table may still be in use: MPI keeps it until then.
 */
#include "preload/datatype_layout.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "preload/constants.h"
#include "preload/family.h"
#include "preload/named_type.h"
#include "next.h"

enum { LAYOUTS = 64, JOINED = 256, STAMP = sizeof(uint64_t), PLAIN_LIMIT = 65536 };

struct joined {
    const uint64_t *stamp; /* NULL: unused */
    const void *buf;
    MPI_Count count;
    MPI_Datatype type, made;
};

static struct rp_layout layouts[LAYOUTS];
static bool is_known[LAYOUTS];
static struct joined joined[JOINED];
static bool any_joined;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

static uint64_t key_of(MPI_Datatype type)
{
    return RP_HANDLE_BITS(type);
}

/* Returns whether an element packs to its own bytes. It is tried with bytes that have no pattern,
 * which also finds elements whose parts are packed in another order than in memory. */
static bool packs_to_itself(MPI_Datatype type, size_t size)
{
    unsigned char *in = malloc(2 * size + 1), *out = in + size;
    uint64_t x = size;
    int used = 0;

    for (size_t i = 0; in && i < size; i++)
        in[i] = (unsigned char)(x = mix(x + UINT64_C(0x9e3779b97f4a7c15)));
    bool same =
        in && rp_pmpi.Pack(in, 1, type, out, (int)size, &used, rp_constant.world) == MPI_SUCCESS &&
        (size_t)used == size && memcmp(in, out, size) == 0;
    free(in);
    return same;
}

static bool is_plain(MPI_Datatype type, MPI_Count size)
{
    MPI_Count lower, extent, true_lower, true_extent;

    rp_pmpi.Type_get_extent_x(type, &lower, &extent);
    rp_pmpi.Type_get_true_extent_x(type, &true_lower, &true_extent);
    if (size == 0 || lower != 0 || true_lower != 0 || extent != size || true_extent != size)
        return false;
    return rp_type_is_named(type) || (size <= PLAIN_LIMIT && packs_to_itself(type, (size_t)size));
}

/* The real function reports an error for a type that is not committed; the type may be committed
 * later. */
static bool is_committed(MPI_Datatype type)
{
    char nothing[1];
    int used = 0;

    return rp_type_is_named(type) ||
           rp_pmpi.Pack(nothing, 0, type, nothing, 0, &used, rp_constant.world) == MPI_SUCCESS;
}

const struct rp_layout *rp_layout_of(MPI_Datatype type)
{
    uint64_t slot = mix(key_of(type)) % LAYOUTS;
    MPI_Count size = 0;

    if (is_known[slot] && layouts[slot].type == type)
        return &layouts[slot];
    if (type == rp_constant.datatype_null || rp_pmpi.Type_size_x(type, &size) != MPI_SUCCESS ||
        !is_committed(type))
        return NULL;
    layouts[slot] = (struct rp_layout){type, size, is_plain(type, size)};
    is_known[slot] = true;
    return &layouts[slot];
}

static int make_struct(MPI_Count count, const MPI_Aint places[2], const MPI_Datatype types[2],
                       MPI_Datatype *made)
{
#if RP_HAS_LARGE_COUNTS
    if (count > INT_MAX) {
        MPI_Count lengths[2] = {STAMP, count}, wide[2] = {places[0], places[1]};
        return rp_pmpi.Type_create_struct_c(2, lengths, wide, types, made);
    }
#endif
    int lengths[2] = {STAMP, (int)count};
    return rp_pmpi.Type_create_struct(2, lengths, places, types, made);
}

static MPI_Datatype make(const uint64_t *stamp, const void *buf, MPI_Count count, MPI_Datatype type)
{
    MPI_Aint places[2] = {(MPI_Aint)(uintptr_t)stamp, (MPI_Aint)(uintptr_t)buf};
    MPI_Datatype types[2] = {rp_constant.byte, type}, made;

    if (make_struct(count, places, types, &made) != MPI_SUCCESS ||
        rp_pmpi.Type_commit(&made) != MPI_SUCCESS)
        rp_bug(__FILE__, __LINE__, "no datatype for a message with its clock");
    return made;
}

static void drop(struct joined *j)
{
    rp_pmpi.Type_free(&j->made);
    j->stamp = NULL;
}

MPI_Datatype rp_layout_join(const uint64_t *stamp, const void *buf, MPI_Count count,
                            MPI_Datatype type)
{
    uint64_t slot = mix((uint64_t)(uintptr_t)stamp ^
                        mix((uint64_t)(uintptr_t)buf ^ mix(key_of(type) ^ mix((uint64_t)count)))) %
                    JOINED;
    struct joined *j = &joined[slot];

    if (j->stamp == stamp && j->buf == buf && j->count == count && j->type == type)
        return j->made;
    if (j->stamp)
        drop(j);
    *j = (struct joined){stamp, buf, count, type, make(stamp, buf, count, type)};
    any_joined = true;
    return j->made;
}

void rp_layout_forget(MPI_Datatype type)
{
    uint64_t slot = mix(key_of(type)) % LAYOUTS;

    if (is_known[slot] && layouts[slot].type == type)
        is_known[slot] = false;
    for (size_t i = 0; any_joined && i < JOINED; i++)
        if (joined[i].stamp && joined[i].type == type)
            drop(&joined[i]);
}

void rp_layout_drop_all(void)
{
    for (size_t i = 0; i < JOINED; i++)
        if (joined[i].stamp)
            drop(&joined[i]);
}
