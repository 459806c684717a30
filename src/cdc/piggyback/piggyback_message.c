/* SPDX-License-Identifier: MIT */
/*
 * There are two ways for one and the same message on the wire, eight bytes of stamp and then the
 * payload; each side takes the one that suits it:
 *
 *  - copied: the payload stands behind the stamp, in memory of ours, packed if its elements are not
 * just bytes. For what is short: that is cheaper than what MPI does for a type with a gap.
 *  - in place: a type that joins the stamp with the program's buffer (preload/datatype_layout.h).
 * For what is long.
 *
 * MPICH 4.0 does not receive by a type with elements of several sizes what was sent as bytes: where
 * a fragment ends within an element, it takes the message for truncated. So there, receives of
 * elements that are not just bytes are always copied; joined types for all others are made of bytes
 * alone.
 *
 * Device memory is always copied: MPI would not look for it behind MPI_BOTTOM, and the stamp is in
 * host memory.
 *
 * Messages come from pools by size and go back there, last in, first out, so that the types made
 * with their stamps are used again.
 */
#include "cdc/piggyback/piggyback_message.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/device_memory.h"
#include "base/diagnostics.h"
#include "preload/datatype_layout.h"
#include "preload/device_types.h"
#include "cdc/piggyback/piggyback_entries.h"
#include "cdc/piggyback/lamport_clock.h"
#include "preload/constants.h"
#include "next.h"
#include "reprise.h"

/*
 * Up to how many bytes copying is cheaper, by ping-pong on one node (bench/run overhead envelope).
 * MPICH sends 8 KiB in place 13 times slower than plainly, and what is longer, by another protocol,
 * faster. What is received costs by its own length, not by the room for it.
 */
#ifdef OPEN_MPI
enum { SENT_COPIED = 3072, RECEIVED_COPIED = 3072, RECEIVES_ELEMENTS_IN_PLACE = 1 };
#else
enum { SENT_COPIED = 9000, RECEIVED_COPIED = 65536, RECEIVES_ELEMENTS_IN_PLACE = 0 };
#endif

enum { STAMP = sizeof(uint64_t), POOLS = 5, NO_POOL = POOLS, COPIED_LIMIT = INT_MAX - STAMP };

static const size_t pool_room[POOLS] = {0, 128, 1024, 8192, 65536};
static struct rp_piggyback_message *pool[POOLS];

static struct rp_piggyback_message *take(size_t room)
{
    uint8_t number = 0;

    while (number < POOLS && pool_room[number] < room)
        number++;
    struct rp_piggyback_message *message = number < POOLS ? pool[number] : NULL;
    if (message) {
        pool[number] = message->next;
        return message;
    }
    message = malloc(sizeof *message + (number < POOLS ? pool_room[number] : room));
    if (!message)
        rp_bug(__FILE__, __LINE__, "out of memory for a message");
    message->pool = number;
    return message;
}

void rp_piggyback_free(struct rp_piggyback_message *message)
{
    if (message->owns_type)
        rp_pmpi.Type_free(&message->type);
    if (message->pool == NO_POOL) {
        free(message);
        return;
    }
    message->next = pool[message->pool];
    pool[message->pool] = message;
}

/* Elements that are not just bytes */

struct place {
    void *buf;
    int count;
    MPI_Datatype type;
    bool is_made; /* the type is ours */
};

/* MPICH 4.0 takes MPI_BOTTOM for a mistake when it packs. Then the same memory is described as seen
 * from elsewhere. */
static struct place place_of(const void *buf, size_t count, MPI_Datatype type)
{
    static char elsewhere;
    struct place place = {(void *)(uintptr_t)buf, (int)count, type, false};
    MPI_Aint bottom = -(MPI_Aint)(uintptr_t)&elsewhere;

    if (buf != MPI_BOTTOM)
        return place;
    if (rp_pmpi.Type_create_struct(1, &place.count, &bottom, &type, &place.type) != MPI_SUCCESS ||
        rp_pmpi.Type_commit(&place.type) != MPI_SUCCESS)
        rp_bug(__FILE__, __LINE__, "no datatype for a message at MPI_BOTTOM");
    return (struct place){&elsewhere, 1, place.type, true};
}

static void leave(struct place *place)
{
    if (place->is_made)
        rp_pmpi.Type_free(&place->type);
}

static void pack(const struct rp_piggyback_message *message, const void *from, size_t count,
                 void *to)
{
    if (message->in_device) {
        rp_device_pack(from, (MPI_Count)count, message->type, to, count * message->size);
        return;
    }
    struct place place = place_of(from, count, message->type);
    int used = 0;

    if (rp_pmpi.Pack(place.buf, place.count, place.type, to, (int)(count * message->size), &used,
                     rp_constant.world) != MPI_SUCCESS)
        rp_bug(__FILE__, __LINE__, "a message cannot be packed");
    leave(&place);
}

static void unpack(const struct rp_piggyback_message *message, const void *from, size_t count,
                   void *to)
{
    struct place place = place_of(to, count, message->type);
    int used = 0;

    if (rp_pmpi.Unpack(from, (int)(count * message->size), &used, place.buf, place.count,
                       place.type, rp_constant.world) != MPI_SUCCESS)
        rp_bug(__FILE__, __LINE__, "a message cannot be unpacked");
    leave(&place);
}

/* A message that ends within an element: the rest of it is unpacked as it was before. */
static void unpack_part(const struct rp_piggyback_message *message, const void *from, size_t bytes,
                        void *to)
{
    unsigned char *element = malloc(message->size);

    if (!element)
        rp_bug(__FILE__, __LINE__, "out of memory for a message");
    pack(message, to, 1, element);
    memcpy(element, from, bytes);
    unpack(message, element, 1, to);
    free(element);
}

static void unpack_all(const struct rp_piggyback_message *message, size_t bytes)
{
    if (message->in_device) {
        rp_device_unpack(message->bytes, bytes, message->buf,
                         (MPI_Count)(message->payload / message->size), message->type);
        return;
    }
    size_t whole = bytes / message->size, part = bytes % message->size;
    MPI_Count lower = 0, extent = 0;

    unpack(message, message->bytes, whole, message->buf);
    if (part == 0)
        return;
    rp_pmpi.Type_get_extent_x(message->type, &lower, &extent);
    unpack_part(message, message->bytes + whole * message->size, part,
                (void *)((uintptr_t)message->buf + whole * (uintptr_t)extent));
}

/* Making */

/* What the real function finds wrong in arguments that we would look at first. */
static const struct rp_layout *sound(const void *buf, MPI_Count count, MPI_Datatype type)
{
    const struct rp_layout *layout = count >= 0 ? rp_layout_of(type) : NULL;

    return layout && !buf && layout->is_plain && count > 0 ? NULL : layout;
}

/* Whether the program's memory is a GPU's. */
static bool is_in_device(const void *buf, MPI_Count count, const struct rp_layout *layout,
                         size_t payload)
{
    if (payload == 0 ||
        !(layout->is_plain ? rp_is_device(buf) : rp_device_holds(buf, count, layout->type)))
        return false;
    if (payload <= COPIED_LIMIT)
        return true;
    rp_error("a message of 2 GiB or more in device memory cannot carry a clock");
    rp_piggyback_end_job(REPRISE_EXIT_UNSUPPORTED);
}

/* The program may free the type while a request stands for the message. */
static void keep_type(struct rp_piggyback_message *message, enum rp_piggyback_kind kind,
                      MPI_Datatype type)
{
    message->type = type;
    message->owns_type =
        kind == RP_PIGGYBACK_PERSISTENT || (kind == RP_PIGGYBACK_LATER && message->receives);
    if (message->owns_type && rp_pmpi.Type_dup(type, &message->type) != MPI_SUCCESS)
        rp_bug(__FILE__, __LINE__, "a datatype cannot be duplicated");
}

static struct rp_piggyback_message *make_message(enum rp_piggyback_kind kind, bool receives,
                                                 void *buf, size_t payload, bool copies,
                                                 bool in_device, const struct rp_layout *layout)
{
    struct rp_piggyback_message *message = take(copies ? payload : 0);

    message->buf = buf;
    message->payload = payload;
    message->receives = receives;
    message->copies = copies;
    message->in_device = in_device;
    message->persistent = kind == RP_PIGGYBACK_PERSISTENT;
    message->active = message->delivered = message->owns_type = false;
    message->size = copies && payload > 0 && !layout->is_plain ? (size_t)layout->size : 0;
    if (message->size > 0)
        keep_type(message, kind, layout->type);
    return message;
}

static struct rp_wire wire_of(struct rp_piggyback_message *message, MPI_Count count,
                              const struct rp_layout *layout)
{
    if (message->copies)
        return (struct rp_wire){&message->stamp, (int)(STAMP + message->payload), rp_constant.byte};
    if (layout->is_plain && message->payload <= COPIED_LIMIT)
        return (struct rp_wire){MPI_BOTTOM, 1,
                                rp_layout_join(&message->stamp, message->buf,
                                               (MPI_Count)message->payload, rp_constant.byte)};
    return (struct rp_wire){MPI_BOTTOM, 1,
                            rp_layout_join(&message->stamp, message->buf, count, layout->type)};
}

static void copy_bytes(const struct rp_piggyback_message *message, void *to, const void *from,
                       size_t bytes)
{
    if (message->in_device)
        rp_device_copy(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

static void stamp_and_copy(struct rp_piggyback_message *message)
{
    message->stamp = rp_stamp_make();
    if (message->size > 0)
        pack(message, message->buf, message->payload / message->size, message->bytes);
    else if (message->copies && message->payload > 0)
        copy_bytes(message, message->bytes, message->buf, message->payload);
}

struct rp_piggyback_message *rp_piggyback_to_send(enum rp_piggyback_kind kind, const void *buf,
                                                  MPI_Count count, MPI_Datatype type,
                                                  struct rp_wire *wire)
{
    const struct rp_layout *layout = sound(buf, count, type);

    if (!layout)
        return NULL;
    size_t payload = (size_t)(layout->size * count);
    if (kind == RP_PIGGYBACK_REPLACED && payload > COPIED_LIMIT)
        rp_bug(__FILE__, __LINE__, "a message is too long to be replaced");
    bool in_device = is_in_device(buf, count, layout, payload),
         copies = payload <= SENT_COPIED || kind == RP_PIGGYBACK_REPLACED || in_device;
    struct rp_piggyback_message *message =
        make_message(kind, false, (void *)(uintptr_t)buf, payload, copies, in_device, layout);
    *wire = wire_of(message, count, layout);
    if (kind != RP_PIGGYBACK_PERSISTENT)
        stamp_and_copy(message);
    return message;
}

struct rp_piggyback_message *rp_piggyback_to_receive(enum rp_piggyback_kind kind, void *buf,
                                                     MPI_Count count, MPI_Datatype type,
                                                     struct rp_wire *wire)
{
    const struct rp_layout *layout = sound(buf, count, type);

    if (!layout)
        return NULL;
    size_t payload = (size_t)(layout->size * count);
    bool in_device = is_in_device(buf, count, layout, payload),
         in_place = layout->is_plain || RECEIVES_ELEMENTS_IN_PLACE || payload > COPIED_LIMIT,
         copies = payload <= RECEIVED_COPIED || !in_place || in_device;
    struct rp_piggyback_message *message =
        make_message(kind, true, buf, payload, copies, in_device, layout);
    *wire = wire_of(message, count, layout);
    message->stamp = RP_NO_STAMP;
    return message;
}

void rp_piggyback_begin(struct rp_piggyback_message *message)
{
    message->active = true;
    message->delivered = false;
    if (message->receives)
        message->stamp = RP_NO_STAMP;
    else
        stamp_and_copy(message);
}

/* Delivering */

int rp_piggyback_error_class(int rc)
{
    int error_class = rc;

    rp_pmpi.Error_class(rc, &error_class);
    return error_class;
}

static bool was_cancelled(const MPI_Status *status)
{
    int flag = 0;

    rp_pmpi.Test_cancelled(status, &flag);
    return flag;
}

MPI_Count rp_piggyback_uncount(MPI_Status *status, bool failed)
{
    MPI_Count bytes = 0;

    rp_pmpi.Get_elements_x(status, rp_constant.byte, &bytes);
    if (bytes < STAMP && (failed || was_cancelled(status)))
        return -1;
    if (bytes < STAMP) {
        rp_error("a message without a clock came from rank %d: was it sent by code that is not "
                 "under reprise?",
                 status->MPI_SOURCE);
        rp_piggyback_end_job(REPRISE_EXIT_UNSUPPORTED);
    }
    rp_pmpi.Status_set_elements_x(status, rp_constant.byte, bytes - STAMP);
    return bytes - STAMP;
}

static void copy_out(const struct rp_piggyback_message *message, size_t bytes)
{
    if (bytes > message->payload)
        bytes = message->payload;
    if (message->size > 0)
        unpack_all(message, bytes);
    else
        copy_bytes(message, message->buf, message->bytes, bytes);
}

void rp_piggyback_deliver(struct rp_piggyback_message *message, MPI_Status *status, bool failed)
{
    MPI_Count bytes = rp_piggyback_uncount(status, failed);

    if (bytes > 0 && message->copies && !message->delivered)
        copy_out(message, (size_t)bytes);
    message->delivered = true;
}
