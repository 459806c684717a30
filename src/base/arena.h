/* SPDX-License-Identifier: MIT */
/*
 * An allocator for pieces that are freed in about the order in which they were allocated, as the
 * pieces of a log are. Pieces stand one behind the other in large blocks. A block is used again
 * when its last piece was freed. So an allocation is a few additions, and in the steady state no
 * page is touched for the first time.
 */
#ifndef RP_ARENA_H
#define RP_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reopen_file.h"

struct rp_arena; /* a block */

/* The allocator. All zeros is an empty one. It must not move while pieces are in use. */
struct rp_arenas {
    struct rp_arena *all, *current, *idle;
    bool is_shared;
    struct rp_reopen file;
    uint64_t file_end;
};

enum { RP_ARENA_BLOCK = 4 << 20 };
#define RP_ARENA_NOWHERE UINT64_MAX

/* Places all later blocks in a file in memory, so that other processes can read them. The first
 * RP_ARENA_BLOCK bytes of the file are left to the caller. To be called before the first piece is
 * allocated. Returns false if the system has no such files. */
bool rp_arenas_share(struct rp_arenas *arenas);

/* Returns the descriptor of that file, or -1 if there is none or the program has closed it. Blocks
 * that are in the file stay valid. */
int rp_arenas_file(struct rp_arenas *arenas);

/* Returns the offset of `piece`, which is in the block `from`, in that file. Returns
 * RP_ARENA_NOWHERE if it is not in the file: pieces that are larger than a block are not. */
uint64_t rp_arena_place(const struct rp_arena *from, const void *piece);

/* Allocates `bytes`, aligned to 16, and sets *from to the block of the piece. Returns NULL if there
 * is no memory. */
void *rp_arena_take(struct rp_arenas *arenas, size_t bytes, struct rp_arena **from);

/* Adds one user of a piece in this block. Each user calls rp_arena_give once. */
void rp_arena_keep(struct rp_arena *from);

/* Frees one piece of this block, or ends one use of it. */
void rp_arena_give(struct rp_arena *from);

/* Frees the allocator. Pieces that are still in use stay valid until they are freed. */
void rp_arenas_free(struct rp_arenas *arenas);

#endif
