/* SPDX-License-Identifier: MIT */
/*
 * Where a call puts what it receives. The memory of dense types is taken as it is; others are
 * packed and unpacked by MPI, or by preload/device_types.c if they are in device memory. If less
 * was received than there is room for, and the length is not one of whole elements, everything is
 * taken: what was not received is the program's own, and the same when it is fed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/device_memory.h"
#include "base/diagnostics.h"
#include "partial/partial_areas.h"
#include "partial/partial_entries.h"
#include "partial/partial_packing.h"
#include "preload/device_types.h"
#include "preload/named_type.h"
#include "reprise.h"

/* Named types are always the same, so the last one is remembered. */
static void look_at_type(struct rp_area *area, MPI_Datatype type)
{
    static struct rp_area last;
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Count size;

    if (last.size > 0 && last.type == type) {
        area->size = last.size;
        area->dense = last.dense;
    } else {
        rp_pmpi.Type_size_x(type, &size);
        rp_pmpi.Type_get_extent(type, &lb, &extent);
        rp_pmpi.Type_get_true_extent(type, &true_lb, &true_extent);
        area->size = size > 0 ? (size_t)size : 0;
        area->dense = size >= 0 && lb == 0 && true_lb == 0 && extent == size && true_extent == size;
        if (rp_type_is_named(type))
            last = (struct rp_area){.type = type, .size = area->size, .dense = area->dense};
    }
    area->type = type;
    area->owned = false;
}

static void set(struct rp_area *area, void *buf, int64_t count, MPI_Datatype type)
{
    area->buf = buf;
    area->count = count;
    look_at_type(area, type);
    area->in_device = count > 0 && area->size > 0 &&
                      (area->dense ? rp_is_device(buf) : rp_device_holds(buf, count, type));
}

static bool has_none(struct rp_areas *areas, uint64_t members, const void *buf, MPI_Datatype type)
{
    *areas = (struct rp_areas){0};
    return members == 0 || buf == MPI_IN_PLACE || type == rp_constant.datatype_null;
}

void rp_areas_one(struct rp_areas *areas, uint64_t members, void *buf, int64_t count,
                  MPI_Datatype type)
{
    if (has_none(areas, members, buf, type) || count <= 0)
        return;
    areas->count = 1;
    set(&areas->one, buf, count, type);
}

void rp_areas_times(struct rp_areas *areas, uint64_t members, void *buf, int64_t count,
                    MPI_Datatype type)
{
    rp_areas_one(areas, members, buf, count * (int64_t)members, type);
}

static int64_t element(const void *array, uint64_t i, size_t size)
{
    if (size == sizeof(int))
        return ((const int *)array)[i];
    return ((const int64_t *)array)[i];
}

static bool reserve(struct rp_areas *areas, uint64_t members)
{
    areas->count = members;
    areas->area = calloc(members, sizeof *areas->area);
    if (!areas->area)
        rp_bug(__FILE__, __LINE__, "out of memory");
    return true;
}

void rp_areas_v(struct rp_areas *areas, uint64_t members, void *buf, const void *counts,
                const void *displs, MPI_Datatype type, size_t count_size, size_t displ_size)
{
    MPI_Aint lb, extent;

    if (has_none(areas, members, buf, type))
        return;
    reserve(areas, members);
    rp_pmpi.Type_get_extent(type, &lb, &extent);
    for (uint64_t i = 0; i < members; i++)
        set(&areas->area[i], (char *)buf + element(displs, i, displ_size) * extent,
            element(counts, i, count_size), type);
}

void rp_areas_w(struct rp_areas *areas, uint64_t members, void *buf, const void *counts,
                const void *displs, const MPI_Datatype *types, size_t count_size, size_t displ_size)
{
    *areas = (struct rp_areas){0};
    if (members == 0)
        return;
    reserve(areas, members);
    for (uint64_t i = 0; i < members; i++)
        if (element(counts, i, count_size) > 0)
            set(&areas->area[i], (char *)buf + element(displs, i, displ_size),
                element(counts, i, count_size), types[i]);
}

void rp_areas_mine(struct rp_areas *areas, uint64_t members, void *buf, const void *counts,
                   MPI_Datatype type, size_t count_size)
{
    rp_areas_one(areas, members, buf, members ? element(counts, members - 1, count_size) : 0, type);
}

static struct rp_area *area_at(const struct rp_areas *areas, size_t i)
{
    return areas->area ? &areas->area[i] : (struct rp_area *)&areas->one;
}

void rp_areas_parts(struct rp_areas *areas, uint64_t members, void *buf, int parts, int64_t count,
                    MPI_Datatype type)
{
    MPI_Aint lb, extent;

    if (has_none(areas, members, buf, type) || count <= 0 || parts <= 0)
        return;
    rp_pmpi.Type_get_extent(type, &lb, &extent);
    reserve(areas, (uint64_t)parts);
    for (int i = 0; i < parts; i++)
        set(&areas->area[i], (char *)buf + i * count * extent, count, type);
}

struct rp_areas rp_areas_part(const struct rp_areas *areas, int part)
{
    struct rp_areas one = {.count = part >= 0 && (size_t)part < areas->count};

    if (one.count)
        one.one = *area_at(areas, (size_t)part);
    return one;
}

void rp_areas_keep(struct rp_areas *areas)
{
    for (size_t i = 0; i < areas->count; i++) {
        struct rp_area *area = area_at(areas, i);
        if (area->count > 0 && !area->dense) {
            rp_pmpi.Type_dup(area->type, &area->type);
            area->owned = true;
        }
    }
}

void rp_areas_free(struct rp_areas *areas)
{
    for (size_t i = 0; i < areas->count; i++)
        if (area_at(areas, i)->owned)
            rp_pmpi.Type_free(&area_at(areas, i)->type);
    rp_partial.hooks->read_dropped(areas->read);
    rp_partial.hooks->early_dropped(areas->early);
    free(areas->area);
    *areas = (struct rp_areas){0};
}

/* Recording */

static uint8_t *room_for(size_t bytes)
{
    static uint8_t *memory;
    static size_t room;

    if (bytes > room) {
        free(memory);
        memory = malloc(bytes);
        room = bytes;
        if (!memory)
            rp_bug(__FILE__, __LINE__, "out of memory");
    }
    return memory;
}

/* Returns how many bytes it has made. */
static size_t pack(const struct rp_area *area, int64_t count, uint8_t *memory, size_t room)
{
    return area->in_device ? rp_device_pack(area->buf, count, area->type, memory, room)
                           : rp_packing_pack(area->buf, count, area->type, memory, room);
}

static void put_packed(const struct rp_area *area, int64_t count)
{
    size_t room = rp_packing_room(count, area->type, area->size);
    uint8_t *memory = room_for(room);
    size_t length = pack(area, count, memory, room);

    rp_data_put_content(rp_partial.writer, memory, length);
    if (!area->in_device)
        rp_partial.hooks->unpacked(area, count, memory, length);
}

static void put_dense(const struct rp_area *area, size_t bytes)
{
    if (!area->in_device) {
        rp_partial_record_array(area->buf, bytes);
        return;
    }
    uint8_t *memory = room_for(bytes);
    rp_device_copy(memory, area->buf, bytes);
    rp_data_put_content(rp_partial.writer, memory, bytes);
}

static void copy_dense(const struct rp_area *area, void *to, const void *from, size_t bytes)
{
    if (area->in_device)
        rp_device_copy(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

static void put_area(const struct rp_area *area, int64_t bytes)
{
    int64_t count = area->count;

    if (bytes >= 0 && area->size > 0 && bytes % (int64_t)area->size == 0 &&
        bytes / (int64_t)area->size < count)
        count = bytes / (int64_t)area->size;
    rp_partial_record_number(count > 0 ? (uint64_t)count : 0);
    if (count <= 0)
        return;
    if (area->dense)
        put_dense(area, (size_t)count * area->size);
    else
        put_packed(area, count);
}

void rp_areas_put(const struct rp_areas *areas, int64_t bytes)
{
    rp_partial_record_number(areas->count);
    for (size_t i = 0; i < areas->count; i++)
        put_area(area_at(areas, i), bytes);
}

int64_t rp_data_received(const MPI_Status *status)
{
    int bytes;

    if (!status || rp_pmpi.Get_count(status, rp_constant.byte, &bytes) != MPI_SUCCESS ||
        bytes == MPI_UNDEFINED)
        return -1;
    return bytes;
}

/* Feeding */

static void mismatch(uint64_t recorded, uint64_t here)
{
    struct rp_problem why;

    if (rp_data_failed(rp_partial.reader, &why) != RP_OK)
        rp_partial_feed_end(); /* reports it */
    rp_error("not the recorded run: call %llu receives into another buffer: %llu were recorded, "
             "here are %llu (counts or types differ)",
             (unsigned long long)rp_data_read_entries(rp_partial.reader),
             (unsigned long long)recorded, (unsigned long long)here);
    rp_data_end_job(REPRISE_EXIT_DIVERGED);
}

static void take_packed(const struct rp_area *area, int64_t count, const uint8_t *content,
                        size_t bytes)
{
    if (area->in_device)
        rp_device_unpack(content, bytes, area->buf, count, area->type);
    else
        rp_packing_unpack(content, bytes, area->buf, count, area->type);
}

static void fill_area(const struct rp_area *area)
{
    int64_t count = (int64_t)rp_partial_feed_number();
    size_t bytes;

    if (count <= 0)
        return;
    const uint8_t *content = rp_data_get_content(rp_partial.reader, &bytes);
    if (!content || count > area->count)
        mismatch((uint64_t)count, (uint64_t)area->count);
    if (!area->dense)
        take_packed(area, count, content, bytes);
    else if ((size_t)count * area->size == bytes)
        copy_dense(area, area->buf, content, bytes);
    else
        mismatch(bytes, (uint64_t)count * area->size);
}

void rp_areas_fill(const struct rp_areas *areas)
{
    uint64_t recorded = rp_partial_feed_number();

    if (recorded != areas->count)
        mismatch(recorded, areas->count);
    for (size_t i = 0; i < areas->count; i++)
        fill_area(area_at(areas, i));
    if (areas->read)
        rp_partial.hooks->read_filled(areas->read, &areas->one);
}

/* Both: what is there now, and what shall be */

static size_t length_of(const struct rp_area *area)
{
    return area->count > 0 ? (size_t)area->count * area->size : 0;
}

size_t rp_areas_length(const struct rp_areas *areas)
{
    size_t length = 0;

    for (size_t i = 0; i < areas->count; i++)
        length += length_of(area_at(areas, i));
    return length;
}

bool rp_areas_in_device(const struct rp_areas *areas)
{
    for (size_t i = 0; i < areas->count; i++)
        if (area_at(areas, i)->in_device)
            return true;
    return false;
}

void rp_areas_copy_out(const struct rp_areas *areas, uint8_t *bytes)
{
    for (size_t i = 0; i < areas->count; i++) {
        const struct rp_area *area = area_at(areas, i);
        size_t length = length_of(area);
        if (length > 0 && area->dense)
            copy_dense(area, bytes, area->buf, length);
        else if (length > 0)
            pack(area, area->count, bytes, length);
        bytes += length;
    }
}

void rp_areas_copy_in(const struct rp_areas *areas, const uint8_t *bytes)
{
    for (size_t i = 0; i < areas->count; i++) {
        const struct rp_area *area = area_at(areas, i);
        size_t length = length_of(area);
        if (length > 0 && area->dense)
            copy_dense(area, area->buf, bytes, length);
        else if (length > 0)
            take_packed(area, area->count, bytes, length);
        bytes += length;
    }
}
