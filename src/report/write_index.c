/* SPDX-License-Identifier: MIT */
/*
 * Value matching (OPR: Deterministic Group Replay), on intervals of time instead of vector clocks.
 * A write W may be the one that a read R found if
 * - it is not later than R: it did not begin when R had ended, and is not behind it in the program
 * of the same rank;
 * - it wrote these bytes, and if its value is known, this value;
 * - no write to all these bytes lies between the two for certain: behind the end of W and before
 * the beginning of R;
 * - no read between the two for certain found something else there.
 * What is left may be one write, several, or none: then a rank wrote it whose writes are not known.
 * The last rule finds many writes by such ranks that the others cannot.
 *
 * A read is cut where any write begins or ends, so that each part was written as a whole or not at
 * all. Memory is divided into blocks; each knows its cuts, and its writes and reads by the time of
 * their beginning. Writes are looked through from the latest back; behind one that is before R for
 * certain, only those matter that overlap it in time.
 */
#include "report/write_index.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, BACK = 4096, WORD = 8 };

struct list {
    uint32_t *item;
    uint64_t *latest; /* end of any up to here */
    size_t count, room;
};

struct block {
    uint64_t number; /* + 1; 0: a free slot */
    uint64_t cuts;   /* a bit for each byte with which something begins, or behind which it ends */
    struct list writes, reads;
};

struct rp_write_index {
    uint32_t owner;
    bool known, several_hosts;
    struct rp_touch *touch[2]; /* reads, writes */
    size_t count[2];
    struct block *block; /* open addressing */
    size_t blocks, room;
};

struct rp_write_index *rp_write_index_new(uint32_t owner, bool known)
{
    struct rp_write_index *w = calloc(1, sizeof *w);

    if (w) {
        w->owner = owner;
        w->known = known;
    }
    return w;
}

void rp_write_index_free(struct rp_write_index *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->room; i++) {
        free(w->block[i].writes.item);
        free(w->block[i].writes.latest);
        free(w->block[i].reads.item);
        free(w->block[i].reads.latest);
    }
    free(w->block);
    free(w->touch[0]);
    free(w->touch[1]);
    free(w);
}

bool rp_write_index_add(struct rp_write_index *w, const struct rp_touch *touch, bool writes)
{
    size_t count = w->count[writes];

    if ((count & (count - 1)) == 0) {
        void *more = realloc(w->touch[writes], (count ? 2 * count : 1) * sizeof *touch);
        if (!more)
            return false;
        w->touch[writes] = more;
    }
    w->touch[writes][count] = *touch;
    w->count[writes]++;
    w->several_hosts |= touch->host != w->touch[writes][0].host ||
                        (w->count[!writes] && touch->host != w->touch[!writes][0].host);
    return true;
}

/* Blocks */

static struct block *slot_of(const struct rp_write_index *w, uint64_t number)
{
    size_t slot = (size_t)((number + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (w->room - 1);

    while (w->block[slot].number != 0 && w->block[slot].number != number + 1)
        slot = (slot + 1) & (w->room - 1);
    return &w->block[slot];
}

static bool make_room(struct rp_write_index *w)
{
    struct rp_write_index more = {.room = w->room ? 2 * w->room : 64};

    if (2 * w->blocks < w->room)
        return true;
    more.block = calloc(more.room, sizeof *more.block);
    if (!more.block)
        return false;
    for (size_t i = 0; i < w->room; i++)
        if (w->block[i].number)
            *slot_of(&more, w->block[i].number - 1) = w->block[i];
    free(w->block);
    w->block = more.block;
    w->room = more.room;
    return true;
}

static struct block *block_of(struct rp_write_index *w, uint64_t number)
{
    if (!make_room(w))
        return NULL;
    struct block *b = slot_of(w, number);
    w->blocks += b->number == 0;
    b->number = number + 1;
    return b;
}

static bool append(struct list *list, uint32_t item, uint64_t end)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 4;
        uint32_t *items = realloc(list->item, room * sizeof *items);
        if (items)
            list->item = items;
        uint64_t *latest = realloc(list->latest, room * sizeof *latest);
        if (latest)
            list->latest = latest;
        if (!items || !latest)
            return false;
        list->room = room;
    }
    list->latest[list->count] =
        list->count && list->latest[list->count - 1] > end ? list->latest[list->count - 1] : end;
    list->item[list->count++] = item;
    return true;
}

static bool cut(struct rp_write_index *w, uint64_t at)
{
    struct block *b = block_of(w, at / BLOCK);

    if (b)
        b->cuts |= UINT64_C(1) << at % BLOCK;
    return b != NULL;
}

static bool place(struct rp_write_index *w, size_t i, bool writes)
{
    const struct rp_touch *t = &w->touch[writes][i];

    if (writes && !(cut(w, t->at) && cut(w, t->at + t->length)))
        return false;
    for (uint64_t n = t->at / BLOCK; n <= (t->at + t->length - 1) / BLOCK; n++) {
        struct block *b = block_of(w, n);
        if (!b || !append(writes ? &b->writes : &b->reads, (uint32_t)i, t->end))
            return false;
    }
    return true;
}

static int by_begin(const void *one, const void *other)
{
    const struct rp_touch *a = one, *b = other;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

bool rp_write_index_ready(struct rp_write_index *w)
{
    for (int writes = 0; writes < 2; writes++) {
        if (w->count[writes] > 1)
            qsort(w->touch[writes], w->count[writes], sizeof *w->touch[writes], by_begin);
        for (size_t i = 0; i < w->count[writes]; i++)
            if (w->touch[writes][i].length > 0 && !place(w, i, writes))
                return false;
    }
    return true;
}

/* One part of a read */

struct question {
    const struct rp_write_index *w;
    const struct rp_touch *read;
    const struct block *block; /* of its first byte */
    uint64_t at, length;
};

/* Of one rank, by the order of its program; else by time. */
static bool ended_before(const struct rp_touch *one, const struct rp_touch *other)
{
    if (one->direct && one->rank == other->rank && one->number && other->number)
        return one->number < other->number;
    return one->host == other->host && one->end <= other->begin;
}

/* The read cannot have found it. */
static bool is_later(const struct rp_touch *write, const struct rp_touch *read)
{
    if (write->rank == read->rank && write->number && write->number >= read->number)
        return true;
    return ended_before(read, write);
}

static bool covers(const struct question *q, const struct rp_touch *write)
{
    if (write->at > q->at || write->at + write->length < q->at + q->length)
        return false;
    for (uint64_t i = q->at - write->at; write->mask && i < q->at - write->at + q->length; i++)
        if (write->mask[i / 8] >> i % 8 & 1)
            return true;
    return !write->mask;
}

/* Or it may: its value is not known. */
static bool has_value_read(const struct question *q, const struct rp_touch *write)
{
    return !write->value || memcmp(write->value + (q->at - write->at),
                                   q->read->value + (q->at - q->read->at), q->length) == 0;
}

static bool is_zero(const struct question *q)
{
    const uint8_t *value = q->read->value + (q->at - q->read->at);

    return value[0] == 0 && memcmp(value, value + 1, q->length - 1) == 0;
}

/* Of the part, what another read found is not what is asked for. */
static bool differs(const struct question *q, const struct rp_touch *read)
{
    uint64_t from = read->at > q->at ? read->at : q->at,
             until = read->at + read->length < q->at + q->length ? read->at + read->length
                                                                 : q->at + q->length;

    return from < until && memcmp(read->value + (from - read->at),
                                  q->read->value + (from - q->read->at), until - from) != 0;
}

/* Between a write that ended then, with the value that was found, and the read, somebody found
 * another value: it was written over. */
static bool was_gone(const struct question *q, uint32_t host, uint64_t end)
{
    const struct list *reads = &q->block->reads;
    size_t low = 0, high = reads->count;

    if (host != q->read->host)
        return false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (q->w->touch[0][reads->item[middle]].begin < q->read->begin)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low, seen = 0; i-- > 0 && seen < BACK; seen++) {
        const struct rp_touch *other = &q->w->touch[0][reads->item[i]];
        if (other->begin < end)
            return false;
        if (other->host == host && ended_before(other, q->read) && differs(q, other))
            return true;
    }
    return false;
}

/* The latest that had begun before the read; else the first after. */
static bool is_better(const struct rp_touch *write, const struct rp_touch *best,
                      const struct rp_touch *read)
{
    uint64_t time = read->direct ? read->end : read->begin;
    bool early = write->begin <= time, was_early = best && best->begin <= time;

    if (!best || early != was_early)
        return !best || early;
    return early ? write->begin > best->begin : write->begin < best->begin;
}

static void add_rank(struct rp_write_part *part, uint32_t rank)
{
    for (size_t i = 0; i < part->ranks; i++)
        if (part->rank[i] == rank)
            return;
    if (part->ranks < RP_WRITERS_MOST)
        part->rank[part->ranks++] = rank;
}

static const struct rp_touch *write_at(const struct question *q, size_t i)
{
    return &q->w->touch[1][q->block->writes.item[i]];
}

static bool is_possible(const struct question *q, const struct rp_touch *write,
                        const struct rp_touch *last)
{
    if (is_later(write, q->read) || !covers(q, write) || !has_value_read(q, write))
        return false;
    return !(last && write != last && ended_before(write, last)) &&
           !(write->value && was_gone(q, write->host, write->end));
}

/* How many writes had begun before the read ended: all others are later. Of other hosts, nobody
 * knows. */
static size_t begun(const struct question *q)
{
    size_t low = 0, high = q->block->writes.count;

    if (q->w->several_hosts)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (write_at(q, middle)->begin < q->read->end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of the first so many, and those that are before the read for certain, the place of the one that
 * began last; the count of all if there is none. */
static size_t last_before(const struct question *q, size_t count)
{
    for (size_t i = count; i-- > 0;)
        if (ended_before(write_at(q, i), q->read) && !is_later(write_at(q, i), q->read) &&
            covers(q, write_at(q, i)))
            return i;
    return q->block->writes.count;
}

static void match_writes(const struct question *q, struct rp_write_part *part)
{
    const struct list *writes = &q->block->writes;
    size_t count = begun(q), sure = last_before(q, count);
    const struct rp_touch *last = sure < writes->count ? write_at(q, sure) : NULL;

    *part = (struct rp_write_part){.at = q->at, .length = q->length};
    for (size_t i = count; i-- > 0;) {
        const struct rp_touch *write = write_at(q, i);
        if (last && i < sure && !q->w->several_hosts && writes->latest[i] <= last->begin)
            break;
        if (!is_possible(q, write, last))
            continue;
        add_rank(part, write->rank);
        if (is_better(write, part->best, q->read))
            part->best = write;
    }
    if (q->w->known && !last && is_zero(q) && !was_gone(q, q->read->host, 0)) {
        add_rank(part, q->w->owner);
        part->first = !part->best;
    }
}

/* The whole read */

/* The first cut behind that place. */
static uint64_t next_cut(const struct rp_write_index *w, uint64_t at, uint64_t end)
{
    for (uint64_t next = at + 1; next < end; next = (next / BLOCK + 1) * BLOCK) {
        const struct block *b = w->room ? slot_of(w, next / BLOCK) : NULL;
        uint64_t left = b && b->number ? b->cuts >> next % BLOCK : 0;
        if (left)
            return next + (uint64_t)__builtin_ctzll(left) < end
                       ? next + (uint64_t)__builtin_ctzll(left)
                       : end;
    }
    return end;
}

static bool is_same(const struct rp_write_part *one, const struct rp_write_part *other)
{
    return one->best == other->best && one->first == other->first && one->ranks == other->ranks &&
           memcmp(one->rank, other->rank, one->ranks * sizeof *one->rank) == 0;
}

void rp_write_index_find(const struct rp_write_index *w, const struct rp_touch *read,
                         void (*report)(void *data, const struct rp_write_part *part), void *data)
{
    static const struct block nothing;
    struct rp_write_part before = {0}, part;
    uint64_t end = read->at + read->length;

    for (uint64_t at = read->at, next; at < end; at = next) {
        next = next_cut(w, at, end);
        const struct block *block = w->room ? slot_of(w, at / BLOCK) : &nothing;
        match_writes(&(struct question){w, read, block, at, next - at}, &part);
        if (w->known && part.ranks == 0 &&
            next - at > WORD) { /* words of the beginning may be among others */
            next = at + WORD;
            match_writes(&(struct question){w, read, block, at, WORD}, &part);
        }
        if (before.length > 0 && is_same(&before, &part)) {
            before.length += part.length;
            continue;
        }
        if (before.length > 0)
            report(data, &before);
        before = part;
    }
    if (before.length > 0)
        report(data, &before);
}
