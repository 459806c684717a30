/* SPDX-License-Identifier: MIT */
/*
 * Datatypes. Between processes of one kind, a payload is the sequence of its basic elements,
 * packed; a predefined type without gaps lies in memory so, and is copied. Every other is left to
 * MPI_Pack, or in device memory to preload/device_types.c.
 */
#include "ft/ft_types.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/device_memory.h"
#include "ft/ft_abort.h"
#include "ft/ft_pairs.h"
#include "ft/ft_state.h"
#include "preload/device_types.h"
#include "reprise.h"

enum { REMEMBERED = 64 };

/* Predefined types do not go away. */
static struct known {
    MPI_Datatype type;
    size_t size; /* 0: not plain */
} known[REMEMBERED];

/* One that MPI has a name for, and no more. */
static void refuse_unknown(MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;

    rp_real.Type_get_name(type, name, &length);
    rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
              "%s: the MPI with ULFM does not know the datatype %s, since it was built without "
              "Fortran: take the one of C",
              rp_ft.call, name);
}

static bool look(MPI_Datatype type, size_t *size)
{
    int integers, addresses, types, combiner, bytes;
    MPI_Aint lower, extent;

    rp_real.Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        return false;
    rp_real.Type_size(type, &bytes);
    if (bytes == 0)
        refuse_unknown(type);
    rp_real.Type_get_extent(type, &lower, &extent);
    struct known *slot = &known[((uintptr_t)type >> 6) % REMEMBERED];
    slot->type = type;
    slot->size = lower == 0 && extent == bytes ? (size_t)bytes : 0;
    *size = slot->size;
    return slot->size > 0;
}

bool rp_ft_is_plain(MPI_Datatype type, size_t *size)
{
    const struct known *slot = &known[((uintptr_t)type >> 6) % REMEMBERED];

    if (slot->type != type)
        return look(type, size);
    *size = slot->size;
    return slot->size > 0;
}

size_t rp_ft_size(int count, MPI_Datatype type)
{
    size_t size;
    MPI_Count bytes;

    if (rp_ft_is_plain(type, &size))
        return size * (size_t)count;
    rp_real.Type_size_x(type, &bytes);
    return (size_t)bytes * (size_t)count;
}

void rp_ft_pack(const void *buffer, int count, MPI_Datatype type, void *out, size_t bytes)
{
    size_t size;
    int position = 0;

    if (bytes == 0)
        return;
    if (rp_ft_is_plain(type, &size)) {
        rp_device_copy(out, buffer, bytes);
        return;
    }
    if (rp_device_holds(buffer, count, type)) {
        rp_device_pack(buffer, count, type, out, bytes);
        return;
    }
    if (bytes > INT32_MAX)
        rp_ft_die(123,
                  "%s: a message of %zu bytes of a derived datatype is too long for reprise ft",
                  rp_ft.call, bytes);
    if (rp_real.Pack(buffer, count, type, out, (int)bytes, &position, MPI_COMM_SELF) !=
            MPI_SUCCESS ||
        (size_t)position != bytes)
        rp_ft_die(125, "%s: packing %zu bytes gave %d", rp_ft.call, bytes, position);
}

int rp_ft_unpack(const void *in, size_t bytes, void *buffer, int count, MPI_Datatype type)
{
    size_t room = rp_ft_size(count, type), size, element = count ? room / (size_t)count : 0;
    int position = 0, result = bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;

    if (bytes > room)
        bytes = room;
    if (bytes == 0)
        return result;
    if (rp_ft_is_plain(type, &size)) {
        rp_device_copy(buffer, in, bytes);
        return result;
    }
    if (rp_device_holds(buffer, count, type)) {
        rp_device_unpack(in, bytes, buffer, count, type);
        return result;
    }
    size_t whole = bytes / element;
    if (whole > 0)
        rp_real.Unpack(in, (int)(whole * element), &position, buffer, (int)whole, type,
                       MPI_COMM_SELF);
    if (bytes >
        whole * element) { /* a part of an element: MPI knows which of its parts these bytes are */
        uint8_t *last = calloc(1, element);
        int used = 0;
        rp_ft_pack(rp_ft_offset(buffer, (long)whole, type), 1, type, last, element);
        memcpy(last, (const uint8_t *)in + whole * element, bytes - whole * element);
        rp_real.Unpack(last, (int)element, &used, rp_ft_offset(buffer, (long)whole, type), 1, type,
                       MPI_COMM_SELF);
        free(last);
    }
    return result;
}

MPI_Datatype rp_ft_type_keep(MPI_Datatype type, bool *owns)
{
    int integers, addresses, types, combiner;
    MPI_Datatype copy;
    size_t size;

    *owns = false;
    if (rp_ft_is_plain(type, &size) || rp_ft_is_pair(type))
        return type;
    rp_real.Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner == MPI_COMBINER_NAMED || rp_real.Type_dup(type, &copy) != MPI_SUCCESS)
        return type;
    *owns = true;
    return copy;
}

void *rp_ft_offset(const void *buffer, long elements, MPI_Datatype type)
{
    size_t size;
    MPI_Aint lower, extent;

    if (rp_ft_is_plain(type, &size))
        return (char *)buffer + elements * (long)size;
    rp_real.Type_get_extent(type, &lower, &extent);
    return (char *)buffer + elements * extent;
}

void *rp_ft_temporary(int count, MPI_Datatype type)
{
    MPI_Aint lower, extent, true_lower, true_extent;

    rp_real.Type_get_extent(type, &lower, &extent);
    rp_real.Type_get_true_extent(type, &true_lower, &true_extent);
    size_t bytes = count > 0 ? (size_t)true_extent +
                                   (size_t)(extent < 0 ? -extent : extent) * (size_t)(count - 1)
                             : 0;
    char *memory = calloc(1, bytes + RP_FT_ALIGN);
    if (!memory)
        rp_ft_die(125, "out of memory for %zu bytes in %s", bytes, rp_ft.call);
    return memory - true_lower;
}

void rp_ft_temporary_free(void *buffer, MPI_Datatype type)
{
    MPI_Aint true_lower, true_extent;

    if (!buffer)
        return;
    rp_real.Type_get_true_extent(type, &true_lower, &true_extent);
    free((char *)buffer + true_lower);
}

void rp_ft_copy(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                MPI_Datatype to_type)
{
    size_t bytes = rp_ft_size(from_count, from_type), size;

    if (bytes == 0 || from == to)
        return;
    if (rp_ft_is_plain(from_type, &size)) {
        void *copy;
        rp_ft_unpack(rp_device_read(from, bytes, &copy), bytes, to, to_count, to_type);
        free(copy);
        return;
    }
    void *packed = rp_ft_alloc(bytes);
    rp_ft_pack(from, from_count, from_type, packed, bytes);
    rp_ft_unpack(packed, bytes, to, to_count, to_type);
    free(packed);
}

void rp_ft_status_set(MPI_Status *status, int source, int tag, int error, size_t bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status->MPI_ERROR = error;
    status->_cancelled = 0;
    status->_ucount = bytes;
}

void rp_ft_status_empty(MPI_Status *status)
{
    rp_ft_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0);
}
