/* SPDX-License-Identifier: MIT */
/*
 * Permutation encoding (Clock Delta Compression, sections 3.3 and 4.1): an observed order B is
 * stored as the few elements of the reference order P that must be moved. P is 0 to count - 1, and
 * `order` is B, a permutation of P.
 *
 * A move takes the element of reference position `index` out of the list, wherever it is by then,
 * and inserts it `delay` positions later (earlier if negative). Moves are applied one after another
 * to the reference order, by increasing index. Figure 7: {0, 3, 2, 1, 4, 7, 5, 6} is (1, +2), (2,
 * +1), (7, -2).
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
 * Sets `moves` and *move_count to a shortest list of moves for `order`. `order[i]` is the reference
 * position of the element that was observed as number i, a permutation of 0 to count - 1. `moves`
 * has room for `count`. RP_MEMORY is the only failure.
 */
enum rp_status rp_permutation_encode(const uint32_t *order, size_t count, struct rp_move *moves,
                                     size_t *move_count);

/* Sets `order` from the moves. Returns false if the indices do not increase, or if a move leaves
 * the list; `order` is then undefined. */
bool rp_permutation_decode(const struct rp_move *moves, size_t move_count, uint32_t *order,
                           size_t count);

#endif
