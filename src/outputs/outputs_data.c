/* SPDX-License-Identifier: MIT */
/*
 * The digest of one item: all its parts go into one hash, one after the other. Only data is hashed:
 * a datatype with gaps, or whose elements are not in the order of memory, is packed, a piece at a
 * time; padding bytes of a long double are left out. Device memory is copied, a piece at a time.
 * The file is opened when the first region begins, so that a rank without regions only checks a
 * flag.
 */
#define XXH_INLINE_ALL
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/device_memory.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "base/status.h"
#include "preload/datatype_layout.h"
#include "outputs/outputs.h"
#include "log/output_log.h"
#include "preload/constants.h"
#include "preload/device_types.h"
#include "preload/family.h"
#include "preload/named_type.h"
#include "peers/peer_outputs.h"

enum { KINDS = 64, PIECE = 1 << 20, PADDED = 16, PADDED_DATA = 10 };

__thread int rp_outputs_on, rp_outputs_inside;

/* What is known of a datatype, by handle. */
struct kind {
    MPI_Datatype type;
    bool is_known, is_floating;
    bool is_padded; /* it has long doubles and nothing else */
};

static struct kind kinds[KINDS];
static struct rp_outputs_writer *writer;
static bool has_stopped;
static struct {
    XXH64_state_t state;
    uint64_t bytes;
    bool is_floating;
    uint32_t site;
} item;

/* Regions */

static void open_file(void)
{
    const char *directory = rp_setting("REPRISE_GIVEN");
    struct rp_problem why;
    int rank;

    rp_next_resolve();
    rp_constants_find();
    if (!directory ||
        (!rp_launched_rank(&rank) && rp_pmpi.Comm_rank(rp_constant.world, &rank) != MPI_SUCCESS))
        return;
    if (rp_outputs_create(directory, (uint32_t)rank, &writer, &why) != RP_OK)
        rp_error("what this replay sends cannot be compared: %s", why.text);
}

void reprise_outputs_region_begins(uintptr_t return_address, uintptr_t stack)
{
    static bool tried;

    if (!tried)
        open_file();
    tried = true;
    if (!writer)
        return;
    if (has_stopped)
        rp_outputs_cease(writer);
    rp_outputs_begin(writer,
                     rp_outputs_site(writer, "reprise_commutative_begin", return_address, stack));
    rp_outputs_on = !has_stopped;
}

void reprise_outputs_region_ends(void)
{
    if (writer)
        rp_outputs_end(writer);
}

void rp_outputs_stop(void)
{
    if (rp_outputs_on)
        rp_outputs_cease(writer);
    rp_outputs_on = 0;
    has_stopped = true;
}

/* Datatypes */

/* Returns false if they cannot be told. */
static bool get_types(MPI_Datatype type, const struct rp_type_envelope *e, MPI_Datatype *types)
{
    int *i = calloc((size_t)e->integers + 1, sizeof *i);
    MPI_Aint *a = calloc((size_t)e->addresses + 1, sizeof *a);
    MPI_Count *c = calloc((size_t)e->counts + 1, sizeof *c);
    bool told = i && a && c;

#if RP_HAS_LARGE_COUNTS
    told = told && rp_pmpi.Type_get_contents_c(type, e->integers, e->addresses, e->counts, e->types,
                                               i, a, c, types) == MPI_SUCCESS;
#else
    told = told && rp_pmpi.Type_get_contents(type, (int)e->integers, (int)e->addresses,
                                             (int)e->types, i, a, types) == MPI_SUCCESS;
#endif
    free(i);
    free(a);
    free(c);
    return told;
}

/* Returns what kind the elements of the datatype are; for a structure, the first. */
static struct kind look(MPI_Datatype type)
{
    struct kind kind = {.type = type, .is_known = true};
    struct rp_type_envelope e = rp_type_envelope(type);
    int length = 0;
    char name[MPI_MAX_OBJECT_NAME] = "";

    if (e.types == 0) {
        rp_pmpi.Type_get_name(type, name, &length);
        kind.is_floating = e.combiner != MPI_COMBINER_NAMED || strstr(name, "FLOAT") ||
                           strstr(name, "DOUBLE") || strstr(name, "REAL") ||
                           strstr(name, "COMPLEX");
        kind.is_padded =
            strcmp(name, "MPI_LONG_DOUBLE") == 0 || strcmp(name, "MPI_C_LONG_DOUBLE_COMPLEX") == 0;
        return kind;
    }
    MPI_Datatype *t = calloc((size_t)e.types, sizeof *t);
    if (t && get_types(type, &e, t)) {
        struct kind inner = look(t[0]);
        kind.is_floating = inner.is_floating;
        kind.is_padded = inner.is_padded && e.combiner != MPI_COMBINER_STRUCT;
        for (MPI_Count k = 0; k < e.types; k++)
            if (rp_type_envelope(t[k]).types > 0)
                rp_pmpi.Type_free(&t[k]);
    }
    free(t);
    return kind;
}

static struct kind *slot_of(MPI_Datatype type)
{
    return &kinds[RP_HANDLE_BITS(type) * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

static const struct kind *kind_of(MPI_Datatype type)
{
    struct kind *slot = slot_of(type);

    if (!slot->is_known || slot->type != type)
        *slot = look(type);
    return slot;
}

void rp_outputs_type_freed(MPI_Datatype *type)
{
    if (!rp_outputs_on || !type)
        return;
    slot_of(*type)->is_known = false;
    rp_layout_forget(*type);
}

/* An item */

void rp_outputs_by(const char *function, uintptr_t return_address, uintptr_t stack)
{
    item.site = rp_outputs_site(writer, function, return_address, stack);
}

void rp_outputs_start(void)
{
    XXH64_reset(&item.state, 0);
    item.bytes = 0;
    item.is_floating = false;
}

static void add_bytes(const uint8_t *bytes, size_t length, bool is_padded)
{
    item.bytes += length;
    if (!is_padded || sizeof(long double) != PADDED || __LDBL_MANT_DIG__ != 64) {
        XXH64_update(&item.state, bytes, length);
        return;
    }
    for (size_t at = 0; at + PADDED <= length; at += PADDED)
        XXH64_update(&item.state, bytes + at, PADDED_DATA);
}

static void add_packed(const void *buf, MPI_Count count, MPI_Datatype type, MPI_Count size,
                       bool is_padded)
{
    MPI_Count most = size < PIECE ? PIECE / size : 1;
    uint8_t *piece = malloc((size_t)(most * size));

    for (MPI_Count done = 0; piece && done < count; done += most) {
        int used = 0, part = (int)(count - done < most ? count - done : most);
        const void *from = rp_outputs_at(buf, done, type);
        if (rp_device_holds(from, part, type))
            used = (int)rp_device_pack(from, part, type, piece, (size_t)(most * size));
        else if (rp_pmpi.Pack(from, part, type, piece, (int)(most * size), &used,
                              rp_constant.world) != MPI_SUCCESS)
            continue;
        add_bytes(piece, (size_t)used, is_padded);
    }
    free(piece);
}

static void add_plain(const uint8_t *bytes, size_t length, bool is_padded)
{
    void *copy;

    if (length == 0 || !rp_is_device(bytes)) {
        add_bytes(bytes, length, is_padded);
        return;
    }
    for (size_t at = 0; at < length; at += PIECE) {
        size_t part = length - at < PIECE ? length - at : PIECE;
        add_bytes(rp_device_read(bytes + at, part, &copy), part, is_padded);
        free(copy);
    }
}

const void *rp_outputs_at(const void *buf, MPI_Count elements, MPI_Datatype type)
{
    MPI_Count lower, extent;

    if (elements == 0 || rp_pmpi.Type_get_extent_x(type, &lower, &extent) != MPI_SUCCESS)
        return buf;
    return (const void *)((uintptr_t)buf + (uintptr_t)(elements * extent));
}

void rp_outputs_add(const void *buf, MPI_Count count, MPI_Datatype type)
{
    const struct rp_layout *layout = count > 0 ? rp_layout_of(type) : NULL;

    if (!layout || layout->size == 0)
        return;
    const struct kind *kind = kind_of(type);
    item.is_floating |= kind->is_floating;
    if (layout->is_plain)
        add_plain(buf, (size_t)(count * layout->size), kind->is_padded);
    else if (layout->size <= INT_MAX)
        add_packed(buf, count, type, layout->size, kind->is_padded);
    else
        item.bytes += (uint64_t)(count * layout->size);
}

void rp_outputs_digest(int peer)
{
    struct rp_outputs_item output = {.digest = XXH64_digest(&item.state),
                                     .bytes = item.bytes,
                                     .site = item.site,
                                     .peer = peer < 0 ? RP_OUTPUTS_NO_PEER : peer,
                                     .is_floating = item.is_floating};

    rp_outputs_put(writer, &output);
}
