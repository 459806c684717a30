/* SPDX-License-Identifier: MIT */
/*
 * Permutation encoding (sections 3.3 and 4.1 of the paper): an observed order as the reference
 * order and the few elements that must be moved.
 *
 * A move takes the element of reference place `index` out of the list, wherever it is by then, and
 * puts it back `delay` places later (earlier if negative). Moves are made one after another, in
 * rising order of index, beginning with the reference order. Figure 7: {0, 3, 2, 1, 4, 7, 5, 6} is
 * (1, +2), (2, +1), (7, -2).
 */
#ifndef RP_PERMUTATION_H
#define RP_PERMUTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { RP_PERMUTATION_LIMIT = 1 << 30 };

struct rp_move {
    uint32_t index;
    int32_t delay; /* never 0 */
};

/*
 * `order[i]` is the reference place of what was observed as number i: a permutation of 0 to count
 * - 1. `moves` has room for `count`; as few as can be are made.
 */
enum rp_status rp_permutation_encode(const uint32_t *order, size_t count, struct rp_move *moves,
                                     size_t *move_count);

/* The order of `count` elements. False if the indices do not rise, or a move leaves the list:
 * `order` is not to be used then. */
bool rp_permutation_decode(const struct rp_move *moves, size_t move_count, uint32_t *order,
                           size_t count);

#endif
