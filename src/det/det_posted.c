/* SPDX-License-Identifier: MIT */
#include "det/det_posted.h"

#include <stdlib.h>

#include "base/diagnostics.h"

enum { LINES = 1024 };

static struct rp_det_line *table[LINES];
static struct rp_det_line *delayed_lines;
static uint64_t count, posts;

static unsigned slot_of(uint64_t comm, uint32_t world, int tag)
{
    uint64_t x = (comm ^ (uint64_t)world * 31 ^ (uint64_t)(unsigned)tag * 2654435761u) *
                 UINT64_C(0x9e3779b97f4a7c15);

    return (unsigned)(x >> 54);
}

static struct rp_det_line *find(uint64_t comm, uint32_t world, int tag)
{
    struct rp_det_line *line = table[slot_of(comm, world, tag)];

    while (line && !(line->comm->id == comm && line->world == world && line->tag == tag))
        line = line->chain;
    return line;
}

static uint32_t world_of(const struct rp_det_receive *receive)
{
    return receive->source == MPI_ANY_SOURCE ? RP_DET_ANYONE : receive->world;
}

static struct rp_det_line *find_or_make(const struct rp_det_receive *receive)
{
    uint32_t world = world_of(receive);
    struct rp_det_line *line = find(receive->comm->id, world, receive->tag),
                       **slot = &table[slot_of(receive->comm->id, world, receive->tag)];

    if (line)
        return line;
    line = malloc(sizeof *line);
    if (!line)
        rp_bug(__FILE__, __LINE__, "out of memory for receives");
    *line = (struct rp_det_line){.comm = receive->comm,
                                 .world = world,
                                 .tag = receive->tag,
                                 .chain = *slot};
    return *slot = line;
}

static void note_delayed(struct rp_det_line *line)
{
    if (line->delayed++ > 0)
        return;
    line->previous = NULL;
    line->next = delayed_lines;
    if (delayed_lines)
        delayed_lines->previous = line;
    delayed_lines = line;
}

static void forget_delayed(struct rp_det_line *line)
{
    if (--line->delayed > 0)
        return;
    *(line->previous ? &line->previous->next : &delayed_lines) = line->next;
    if (line->next)
        line->next->previous = line->previous;
}

void rp_det_posted_add(struct rp_det_receive *receive)
{
    struct rp_det_line *line = find_or_make(receive);

    receive->line = line;
    receive->number = ++posts;
    receive->next = NULL;
    receive->previous = line->last;
    *(line->last ? &line->last->next : &line->first) = receive;
    line->last = receive;
    receive->is_listed = true;
    count++;
    if (receive->is_delayed)
        note_delayed(line);
}

static void drop(struct rp_det_line *line)
{
    struct rp_det_line **link = &table[slot_of(line->comm->id, line->world, line->tag)];

    while (*link != line)
        link = &(*link)->chain;
    *link = line->chain;
    free(line);
}

void rp_det_posted_remove(struct rp_det_receive *receive)
{
    struct rp_det_line *line = receive->line;

    *(receive->previous ? &receive->previous->next : &line->first) = receive->next;
    *(receive->next ? &receive->next->previous : &line->last) = receive->previous;
    receive->is_listed = false;
    count--;
    if (receive->is_delayed)
        forget_delayed(line);
    if (!line->first)
        drop(line);
}

bool rp_det_posted_is_empty(void)
{
    return count == 0;
}

bool rp_det_posted_uses(const struct rp_det_comm *comm)
{
    for (unsigned i = 0; count > 0 && i < LINES; i++)
        for (const struct rp_det_line *line = table[i]; line; line = line->chain)
            if (line->comm == comm)
                return true;
    return false;
}

bool rp_det_posted_delays(const struct rp_det_comm *comm)
{
    for (const struct rp_det_line *line = delayed_lines; line; line = line->next)
        if (line->comm == comm)
            return true;
    return false;
}

static struct rp_det_receive *earlier(struct rp_det_receive *best, uint64_t comm, uint32_t world,
                                      int tag)
{
    struct rp_det_line *line = find(comm, world, tag);

    return line && (!best || line->first->number < best->number) ? line->first : best;
}

struct rp_det_receive *rp_det_posted_first(const struct rp_message_note *note,
                                           const struct rp_det_receive *before)
{
    struct rp_det_receive *best = NULL;

    if (count == 0)
        return NULL;
    best = earlier(best, note->comm, note->source, note->tag);
    best = earlier(best, note->comm, note->source, MPI_ANY_TAG);
    best = earlier(best, note->comm, RP_DET_ANYONE, note->tag);
    best = earlier(best, note->comm, RP_DET_ANYONE, MPI_ANY_TAG);
    return best && before && before->is_listed && best->number >= before->number ? NULL : best;
}

bool rp_det_posted_overlaps(const struct rp_det_receive *receive)
{
    for (const struct rp_det_line *line = delayed_lines; line; line = line->next)
        if (line->comm->id == receive->comm->id &&
            (line->world == RP_DET_ANYONE || receive->source == MPI_ANY_SOURCE ||
             line->world == receive->world) &&
            (line->tag == MPI_ANY_TAG || receive->tag == MPI_ANY_TAG || line->tag == receive->tag))
            return true;
    return false;
}

struct rp_det_line *rp_det_posted_next(const struct rp_det_line *line)
{
    return line ? line->next : delayed_lines;
}
