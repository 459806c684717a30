/* SPDX-License-Identifier: MIT */
/*
 * Memory that is taken piece by piece and given back in about the same order, as a log is: pieces
 * stand one behind the other in large blocks, and a block is used again when its last piece was
 * given back. So taking one is a few additions, and in the steady state no page is touched for the
 * first time.
 */
#ifndef RP_ARENA_H
#define RP_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reopen_file.h"

struct rp_arena; /* a block */

/* All zero is empty. It must not move while pieces are in use. */
struct rp_arenas {
    struct rp_arena *all, *current, *idle;
    bool is_shared;
    struct rp_reopen file;
    uint64_t file_end;
};

enum { RP_ARENA_BLOCK = 4 << 20 };
#define RP_ARENA_NOWHERE UINT64_MAX

/* Blocks are parts of a file in memory from now on, so that other processes can read them; the
 * first part of it, of the size of a block, stays the caller's. False: the system has no such
 * files. Before the first piece. */
bool rp_arenas_share(struct rp_arenas *arenas);

/* That file's descriptor. -1: there is none, or the program has closed it; blocks that are in it
 * stay there. */
int rp_arenas_file(struct rp_arenas *arenas);

/* Where in that file a piece is; RP_ARENA_NOWHERE: not in it, as what is larger than a block. */
uint64_t rp_arena_place(const struct rp_arena *from, const void *piece);

/* Aligned to 16 bytes; `from` is its block. NULL: no memory. */
void *rp_arena_take(struct rp_arenas *arenas, size_t bytes, struct rp_arena **from);

/* A piece is in use by one more, who gives it back as well. */
void rp_arena_keep(struct rp_arena *from);

/* One of the pieces of this block is no longer used. */
void rp_arena_give(struct rp_arena *from);

/* Pieces that are still in use stay valid until they are given back. */
void rp_arenas_free(struct rp_arenas *arenas);

#endif
