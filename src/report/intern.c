/* SPDX-License-Identifier: MIT */
#include "report/intern.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const uint8_t *bytes, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

static const uint8_t *string_of(const struct rp_intern *set, uint32_t number, size_t *length)
{
    uint64_t start = number ? rp_load_u64(set->ends.bytes + 8 * (size_t)(number - 1)) : 0;

    *length = (size_t)(rp_load_u64(set->ends.bytes + 8 * (size_t)number) - start);
    return set->bytes.bytes + start;
}

/* The slot of the string, or the free one where it belongs. */
static uint32_t *slot_of(const struct rp_intern *set, const uint8_t *bytes, size_t length)
{
    for (size_t at = hash_of(bytes, length) & (set->room - 1);; at = (at + 1) & (set->room - 1)) {
        uint32_t *slot = &set->slots[at];
        size_t other;
        if (*slot == 0)
            return slot;
        const uint8_t *string = string_of(set, *slot - 1, &other);
        if (other == length && memcmp(string, bytes, length) == 0)
            return slot;
    }
}

static bool grow(struct rp_intern *set)
{
    struct rp_intern larger = *set;

    larger.room = set->room ? set->room * 2 : 64;
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (uint32_t i = 0; i < set->count; i++) {
        size_t length;
        const uint8_t *string = string_of(set, i, &length);
        *slot_of(&larger, string, length) = i + 1;
    }
    free(set->slots);
    *set = larger;
    return true;
}

bool rp_intern_add(struct rp_intern *set, const void *bytes, size_t length, uint32_t *number)
{
    if (2 * ((size_t)set->count + 1) > set->room && !grow(set))
        return false;
    uint32_t *slot = slot_of(set, bytes, length);
    if (*slot == 0) {
        rp_buffer_put(&set->bytes, bytes, length);
        rp_buffer_u64(&set->ends, set->bytes.length);
        if (set->bytes.failed || set->ends.failed)
            return false;
        *slot = ++set->count;
    }
    *number = *slot - 1;
    return true;
}

void rp_intern_free(struct rp_intern *set)
{
    rp_buffer_free(&set->bytes);
    rp_buffer_free(&set->ends);
    free(set->slots);
    memset(set, 0, sizeof *set);
}
