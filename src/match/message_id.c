/* SPDX-License-Identifier: MIT */
/*
 * Lifflander et al. (section VI) number the branches below one root of a commutative region. But a
 * region takes messages of several senders, none of which knows of the others, so that two of them
 * may have the same path of branches. Here a path names the whole parent: region, SPE, SRN and the
 * path of the parent, then the branch (rp_cpi_child). So messages in different commutative regions
 * can be distinguished. Each part shows where it ends, so that different paths are different
 * strings. An identity is unique by induction over the length of the path.
 *
 * The set is open addressing; paths of up to 64 bits, which are most, are in the slot, longer ones
 * apart.
 */
#include "match/message_id.h"

#include <stdlib.h>
#include <string.h>

static void put_bit(struct rp_cpi *cpi, bool bit)
{
    if (bit)
        cpi->bytes[cpi->bits / 8] |= (uint8_t)(0x80 >> cpi->bits % 8);
    cpi->bits++;
}

bool rp_cpi_number(struct rp_cpi *cpi, uint64_t number)
{
    if (number == UINT64_MAX)
        return false;
    int length = 63 - __builtin_clzll(number + 1);
    if (cpi->bits + 2 * length + 1 > RP_CPI_BITS)
        return false;
    for (int i = 0; i < length; i++)
        put_bit(cpi, false);
    for (int i = length; i >= 0; i--)
        put_bit(cpi, (number + 1) >> i & 1);
    return true;
}

bool rp_cpi_child(const struct rp_message_id *parent, uint32_t region, uint32_t child,
                  struct rp_cpi *cpi)
{
    struct rp_cpi made = {0};
    bool fits = rp_cpi_number(&made, region) && rp_cpi_number(&made, parent->spe) &&
                rp_cpi_number(&made, parent->srn) && rp_cpi_number(&made, parent->cpi.bits) &&
                made.bits + parent->cpi.bits <= RP_CPI_BITS;

    for (int i = 0; fits && i < parent->cpi.bits; i++)
        put_bit(&made, parent->cpi.bytes[i / 8] & 0x80 >> i % 8);
    if (!fits || !rp_cpi_number(&made, child))
        return false;
    *cpi = made;
    return true;
}

bool rp_message_id_same(const struct rp_message_id *one, const struct rp_message_id *other)
{
    return one->spe == other->spe && one->srn == other->srn && one->cpi.bits == other->cpi.bits &&
           memcmp(one->cpi.bytes, other->cpi.bytes, (one->cpi.bits + 7u) / 8) == 0;
}

uint64_t rp_message_id_hash(const struct rp_message_id *identity)
{
    uint64_t hash = ((uint64_t)identity->spe << 32 | identity->srn) * UINT64_C(0x9e3779b97f4a7c15) ^
                    identity->cpi.bits;

    for (int i = 0; i < (identity->cpi.bits + 7) / 8; i++)
        hash = (hash ^ identity->cpi.bytes[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 31;
}

enum { SHORT = 64 };

struct rp_message_id_slot {
    uint32_t spe, srn;
    union {
        uint8_t path[SHORT / 8];
        uint8_t *apart;
    };
    uint16_t bits;
    bool used;
};

static const uint8_t *path_of(const struct rp_message_id_slot *slot)
{
    return slot->bits > SHORT ? slot->apart : slot->path;
}

static bool is_slot(const struct rp_message_id_slot *slot, const struct rp_message_id *identity)
{
    return slot->spe == identity->spe && slot->srn == identity->srn &&
           slot->bits == identity->cpi.bits &&
           memcmp(path_of(slot), identity->cpi.bytes, (identity->cpi.bits + 7u) / 8) == 0;
}

/* Where it is, or where it would be. */
static struct rp_message_id_slot *find(const struct rp_message_ids *set,
                                       const struct rp_message_id *identity)
{
    uint64_t at = rp_message_id_hash(identity) & (set->room - 1);

    while (set->slots[at].used && !is_slot(&set->slots[at], identity))
        at = (at + 1) & (set->room - 1);
    return &set->slots[at];
}

static bool grow(struct rp_message_ids *set)
{
    struct rp_message_ids larger = {.room = set->room ? 2 * set->room : 32, .count = set->count};

    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (uint64_t i = 0; i < set->room; i++) {
        const struct rp_message_id_slot *slot = &set->slots[i];
        struct rp_message_id identity = {slot->spe, slot->srn, {.bits = slot->bits}};
        if (!slot->used)
            continue;
        memcpy(identity.cpi.bytes, path_of(slot), (slot->bits + 7u) / 8);
        *find(&larger, &identity) = *slot;
    }
    free(set->slots);
    *set = larger;
    return true;
}

bool rp_message_ids_add(struct rp_message_ids *set, const struct rp_message_id *identity,
                        bool *failed)
{
    struct rp_message_id_slot made = {.spe = identity->spe,
                                      .srn = identity->srn,
                                      .bits = identity->cpi.bits,
                                      .used = true};
    size_t bytes = (identity->cpi.bits + 7u) / 8;

    if (rp_message_ids_has(set, identity))
        return false;
    if ((2 * set->count >= set->room && !grow(set)) ||
        (made.bits > SHORT && !(made.apart = malloc(bytes)))) {
        if (failed)
            *failed = true;
        return false;
    }
    memcpy(made.bits > SHORT ? made.apart : made.path, identity->cpi.bytes, bytes);
    *find(set, identity) = made;
    set->count++;
    return true;
}

bool rp_message_ids_has(const struct rp_message_ids *set, const struct rp_message_id *identity)
{
    return set->room > 0 && find(set, identity)->used;
}

void rp_message_ids_clear(struct rp_message_ids *set)
{
    for (uint64_t i = 0; i < set->room; i++)
        if (set->slots[i].bits > SHORT)
            free(set->slots[i].apart);
    free(set->slots);
    *set = (struct rp_message_ids){0};
}
