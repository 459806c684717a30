/* SPDX-License-Identifier: MIT */
#include "task/task_determinant.h"

#include <string.h>
#include <stdlib.h>

#include "base/diagnostics.h"

void rp_determinants_add(struct rp_determinants *list, const struct rp_determinant *one)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 16;
        list->list = realloc(list->list, list->room * sizeof *list->list);
        RP_BUG_ON(!list->list);
    }
    list->list[list->count++] = *one;
}

/* They mostly come in order. */
bool rp_determinants_insert(struct rp_determinants *list, const struct rp_determinant *one)
{
    size_t at = list->count;

    while (at > 0 && list->list[at - 1].place > one->place)
        at--;
    if (at > 0 && list->list[at - 1].place == one->place)
        return false;
    rp_determinants_add(list, one);
    memmove(&list->list[at + 1], &list->list[at], (list->count - 1 - at) * sizeof *one);
    list->list[at] = *one;
    return true;
}

size_t rp_determinants_drop(struct rp_determinants *list, uint64_t count)
{
    size_t dropped = count < list->count ? (size_t)count : list->count;

    list->count -= dropped;
    if (dropped > 0)
        memmove(list->list, list->list + dropped, list->count * sizeof *list->list);
    return dropped;
}

void rp_determinant_put(struct rp_buffer *out, const struct rp_determinant *one)
{
    rp_buffer_varint(out, one->task);
    rp_buffer_varint(out, one->place);
    rp_buffer_varint(out, one->id.spe);
    rp_buffer_varint(out, one->id.srn);
    rp_buffer_varint(out, one->id.cpi.bits);
    rp_buffer_put(out, one->id.cpi.bytes, (one->id.cpi.bits + 7u) / 8);
}

bool rp_determinant_get(struct rp_view *in, struct rp_determinant *one)
{
    *one =
        (struct rp_determinant){.task = (uint32_t)rp_view_varint(in), .place = rp_view_varint(in)};
    one->id.spe = (uint32_t)rp_view_varint(in);
    one->id.srn = (uint32_t)rp_view_varint(in);
    uint64_t bits = rp_view_varint(in);
    if (in->failed || bits > RP_CPI_BITS || (size_t)(in->end - in->at) < (bits + 7) / 8)
        return false;
    one->id.cpi.bits = (uint16_t)bits;
    for (uint64_t i = 0; i < (bits + 7) / 8; i++)
        one->id.cpi.bytes[i] = rp_view_byte(in);
    return true;
}
