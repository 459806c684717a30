/* SPDX-License-Identifier: MIT */
/*
 * P, the reference order, is 0 to count - 1; `order` is B, the observed one, a permutation of P. So
 * the element of P at j is found in B by one look: position[order[i]] = i (settle_kept).
 *
 * Which elements stay: a longest increasing subsequence of the observed order, so that the number
 * of moves is as small as possible. Patience sorting from the right finds it; among several it
 * prefers the one of figure 7 of Clock Delta Compression. The search for a pile begins at the last
 * pile and doubles its steps: an element that is in order costs one step, any other the logarithm
 * of its distance from its position.
 *
 * How far the others move: elements that stay, or that were moved already, are settled; among each
 * other they are in observed order. The next element to move is where the reference order put it.
 * It goes the shortest way into the gap between its settled neighbours: behind its predecessor if
 * it is delayed, in front of its successor if it comes early. An element that was not moved yet is
 * on the same side of a settled element as it is of that element's anchor. The anchor of an element
 * that stays or comes early is its own index, for all greater ones are still behind it. The anchor
 * of a delayed element is that of the element that it was put behind. So for element x, with all
 * smaller ones settled,
 *
 *   from = settled elements with an anchor less than x
 *   to   = settled elements observed before x
 *        + (if x moves right) elements not yet moved, between x and the last of these anchors
 *
 * and delay = to - from. It is never 0: x is out of order with at least one element that stays, or
 * else the subsequence was not the longest. Two Fenwick trees count the settled elements, by anchor
 * and by observed position: O(n + m log n) for m moves; without moves, one look at each element.
 *
 * Decoding applies the moves in an array: O(n + sum of |delay|), as an element is searched for no
 * further than others have jumped over it.
 */
#include "cdc/codec/permutation.h"

#include <stdlib.h>
#include <string.h>

/* The arrays of one encoding, of n or n + 1 numbers each. */
struct work {
    uint32_t *memory;
    uint32_t *next;     /* by element: its successor in the longest chain that begins with it */
    uint32_t *pile;     /* by length of chain less 1: its best first element; decreasing */
    uint32_t *moved;    /* by element, 1 if it moves; later how many smaller elements move */
    uint32_t *anchor;   /* by settled element */
    uint32_t *position; /* by element: where it was observed */
    uint32_t *anchored; /* Fenwick tree of settled elements by anchor */
    uint32_t *observed; /* Fenwick tree of settled elements by observed position */
    uint32_t count;
};

static bool work_init(struct work *work, uint32_t count)
{
    size_t each = (size_t)count + 1;
    uint32_t **const all[] = {&work->next,     &work->pile,     &work->moved,   &work->anchor,
                              &work->position, &work->anchored, &work->observed};
    size_t arrays = sizeof all / sizeof *all;

    work->count = count;
    work->memory = malloc(arrays * each * sizeof *work->memory);
    for (size_t i = 0; work->memory && i < arrays; i++)
        *all[i] = work->memory + i * each;
    return work->memory != NULL;
}

/* Fenwick trees: entry i (from 1) holds the sum of the i & -i numbers up to it. */

static void tree_build(uint32_t *tree, uint32_t count)
{
    for (uint32_t i = 1; i <= count; i++) {
        uint32_t parent = i + (i & -i);
        if (parent <= count)
            tree[parent] += tree[i];
    }
}

static void tree_add(uint32_t *tree, uint32_t count, uint32_t at)
{
    for (uint32_t i = at + 1; i <= count; i += i & -i)
        tree[i]++;
}

/* Returns the sum of the numbers at positions less than `end`. */
static uint32_t tree_sum(const uint32_t *tree, uint32_t end)
{
    uint32_t sum = 0;

    for (uint32_t i = end; i > 0; i -= i & -i)
        sum += tree[i];
    return sum;
}

/* Returns the first position where the sum up to it is `rank`, from 1. */
static uint32_t tree_find(const uint32_t *tree, uint32_t count, uint32_t rank)
{
    uint32_t at = 0, step = 1;

    while (step <= count / 2)
        step *= 2;
    for (; step > 0; step /= 2)
        if (at + step <= count && tree[at + step] < rank) {
            at += step;
            rank -= tree[at];
        }
    return at;
}

/* Returns the first pile whose element is less than `value`, or `piles` if there is none. */
static uint32_t find_pile(const uint32_t *pile, uint32_t piles, uint32_t value)
{
    uint32_t high = piles, step = 1; /* pile[high] and all behind are less */

    while (step <= high && pile[high - step] < value) {
        high -= step;
        step *= 2;
    }
    uint32_t low = step <= high ? high - step + 1 : 0; /* all before are greater */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pile[middle] < value)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

/* Sets `moved`. Returns how many elements move. */
static uint32_t choose_moved(struct work *work, const uint32_t *order)
{
    uint32_t piles = 0;

    for (uint32_t i = work->count; i-- > 0;) {
        uint32_t at = find_pile(work->pile, piles, order[i]);
        work->next[order[i]] = at > 0 ? work->pile[at - 1] : UINT32_MAX;
        work->pile[at] = order[i];
        piles += at == piles;
        work->moved[i] = 1;
    }
    for (uint32_t value = work->pile[piles - 1]; value != UINT32_MAX; value = work->next[value])
        work->moved[value] = 0;
    return work->count - piles;
}

/* Marks the elements that stay as settled. */
static void settle_kept(struct work *work, const uint32_t *order)
{
    uint32_t n = work->count;

    for (uint32_t i = 0; i < n; i++) {
        work->position[order[i]] = i;
        work->anchor[i] = i;
        work->anchored[i + 1] = !work->moved[i];
        work->observed[i + 1] = !work->moved[order[i]];
    }
    tree_build(work->anchored, n);
    tree_build(work->observed, n);
    for (uint32_t i = 0, sum = 0; i <= n; i++) {
        uint32_t one = i < n ? work->moved[i] : 0;
        work->moved[i] = sum;
        sum += one;
    }
}

/* Returns the delay of the move of element x, which is settled from then on. */
static int32_t delay_of(struct work *work, const uint32_t *order, uint32_t x)
{
    uint32_t n = work->count, from = tree_sum(work->anchored, x),
             to = tree_sum(work->observed, work->position[x]);

    if (to > from) {
        work->anchor[x] = work->anchor[order[tree_find(work->observed, n, to)]];
        to += work->moved[work->anchor[x]] - work->moved[x + 1];
    }
    tree_add(work->anchored, n, work->anchor[x]);
    tree_add(work->observed, n, work->position[x]);
    return (int32_t)to - (int32_t)from;
}

static bool is_sorted(const uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (order[i] != i)
            return false;
    return true;
}

enum rp_status rp_permutation_encode(const uint32_t *order, size_t count, struct rp_move *moves,
                                     size_t *move_count)
{
    struct work work;
    uint32_t made = 0;

    if (is_sorted(order, count)) {
        *move_count = 0;
        return RP_OK;
    }
    if (count > RP_PERMUTATION_LIMIT || !work_init(&work, (uint32_t)count))
        return RP_MEMORY;
    uint32_t expected = choose_moved(&work, order);
    settle_kept(&work, order);
    for (uint32_t x = 0; made < expected; x++)
        if (work.moved[x + 1] > work.moved[x])
            moves[made++] = (struct rp_move){x, delay_of(&work, order, x)};
    free(work.memory);
    *move_count = made;
    return RP_OK;
}

static bool make_move(const struct rp_move *move, uint32_t *order, size_t count)
{
    size_t from = move->index;

    while (order[from] != move->index)
        from--;
    int64_t to = (int64_t)from + move->delay;
    if (to < 0 || to >= (int64_t)count || move->delay == 0)
        return false;
    if (move->delay > 0)
        memmove(order + from, order + from + 1, (size_t)move->delay * sizeof *order);
    else
        memmove(order + to + 1, order + to, (from - (size_t)to) * sizeof *order);
    order[to] = move->index;
    return true;
}

bool rp_permutation_decode(const struct rp_move *moves, size_t move_count, uint32_t *order,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = 0; i < move_count; i++)
        if (moves[i].index >= count || (i > 0 && moves[i].index <= moves[i - 1].index) ||
            !make_move(&moves[i], order, count))
            return false;
    return true;
}
