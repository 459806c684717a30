/* SPDX-License-Identifier: MIT */
/* What the program protects: a list in the order of its calls. Memory is copied; other state saves
 * and restores itself. */
#include "ft/ft_protected.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/device_memory.h"
#include "ft/ft_abort.h"
#include "reprise.h"

struct protected
{
    struct protected *next;
    int id;
    void *memory;
    size_t bytes;
    const struct reprise_state *state; /* or NULL: memory */
};

static struct {
    struct protected *first;
} list;

void rp_ft_protect(int id, void *memory, size_t bytes, const struct reprise_state *state)
{
    struct protected **link = &list.first;

    while (*link && (*link)->id != id)
        link = &(*link)->next;
    if (!*link)
        *link = rp_ft_alloc(sizeof **link);
    (*link)->id = id;
    (*link)->memory = memory;
    (*link)->bytes = bytes;
    (*link)->state = state;
}

void rp_ft_unprotect(int id)
{
    struct protected **link = &list.first;

    while (*link && (*link)->id != id)
        link = &(*link)->next;
    if (*link) {
        struct protected *one = *link;
        *link = one->next;
        free(one);
    }
}

uint32_t rp_ft_protected_put(struct rp_buffer *out)
{
    uint32_t count = 0;

    for (struct protected *one = list.first; one; one = one->next, count++) {
        uint64_t bytes = one->state ? one->state->size(one->memory) : one->bytes;
        int64_t id = one->id;
        rp_buffer_put(out, &id, sizeof id);
        rp_buffer_put(out, &bytes, sizeof bytes);
        if (!rp_buffer_reserve(out, bytes))
            return count;
        if (one->state)
            one->state->save(one->memory, out->bytes + out->length);
        else
            rp_device_copy(out->bytes + out->length, one->memory, bytes);
        out->length += bytes;
    }
    return count;
}

void rp_ft_protected_restore(const uint8_t *at, uint32_t count)
{
    struct protected *one = list.first;

    for (uint32_t i = 0; i < count; i++) {
        int64_t id;
        uint64_t bytes;
        memcpy(&id, at, sizeof id);
        memcpy(&bytes, at + sizeof id, sizeof bytes);
        at += sizeof id + sizeof bytes;
        if (!one || one->id != id || (!one->state && one->bytes != bytes))
            rp_ft_die(
                REPRISE_EXIT_USAGE,
                "the checkpoint has state %lld of %llu bytes, the program now protects something "
                "else there: what is protected before the loop must be the same in every run",
                (long long)id, (unsigned long long)bytes);
        if (one->state)
            one->state->restore(one->memory, at, bytes);
        else
            rp_device_copy(one->memory, at, bytes);
        at += bytes;
        one = one->next;
    }
}

void rp_ft_protected_compare(const uint8_t *before, long iteration)
{
    struct rp_buffer now = {0};
    size_t at = 0;

    rp_ft_protected_put(&now);
    for (struct protected *part = list.first; part; part = part->next) {
        uint64_t bytes;
        memcpy(&bytes, now.bytes + at + sizeof(int64_t), sizeof bytes);
        at += 2 * sizeof bytes;
        for (uint64_t i = 0; i < bytes; i++)
            if (now.bytes[at + i] != before[at + i])
                rp_ft_die(REPRISE_EXIT_DIVERGED,
                          "iterations before %ld were done twice and ended differently, in byte "
                          "%llu of the protected state %d: the loop changes something that is not "
                          "protected, or is not deterministic",
                          iteration, (unsigned long long)i, part->id);
        at += bytes;
    }
    rp_buffer_free(&now);
}
