/* SPDX-License-Identifier: MIT */
/* A piece that is larger than a block gets a block of its own. That block is in no list and not in
 * the shared file, and it is freed with its piece. */
#include "base/arena.h"

#include <fcntl.h>
#include <stdalign.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/aligned.h"

enum { ALIGN = 16, BLOCK = RP_ARENA_BLOCK, HUGE_PAGE = 2 << 20 };

struct rp_arena {
    struct rp_arenas *owner;      /* NULL: in no list */
    struct rp_arena *next, *idle; /* of all; of those without pieces */
    size_t used, live;
    uint64_t place; /* in the file */
    alignas(ALIGN) uint8_t bytes[];
};

enum { ROOM = BLOCK - sizeof(struct rp_arena) };

/* Asks for huge pages: most of the cost of a first copy is the first touch of each page. */
static struct rp_arena *allocate(size_t bytes)
{
    size_t rounded = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    struct rp_arena *made = rounded >= bytes ? rp_aligned_new(HUGE_PAGE, rounded) : NULL;

    if (!made)
        return NULL;
    madvise(made, rounded, MADV_HUGEPAGE);
    *made = (struct rp_arena){.place = RP_ARENA_NOWHERE};
    return made;
}

/* Returns whether a file may grow to `bytes`. To grow it beyond the limit of file sizes would end
 * the program (SIGXFSZ). */
static bool may_grow_to(uint64_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

bool rp_arenas_share(struct rp_arenas *arenas)
{
    int file =
        may_grow_to(BLOCK) ? memfd_create("reprise-log", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;

    if (file < 0)
        return false;
    if (ftruncate(file, BLOCK) != 0 || rp_reopen_adopt(&arenas->file, file) != 0) {
        close(file);
        return false;
    }
    arenas->is_shared = true;
    arenas->file_end = BLOCK;
    return true;
}

int rp_arenas_file(struct rp_arenas *arenas)
{
    return arenas->is_shared ? rp_reopen_fd(&arenas->file) : -1;
}

uint64_t rp_arena_place(const struct rp_arena *from, const void *piece)
{
    return from->place == RP_ARENA_NOWHERE
               ? RP_ARENA_NOWHERE
               : from->place + (uint64_t)((const uint8_t *)piece - (const uint8_t *)from);
}

/* Allocates the memory at once: a page that cannot be had later would raise a signal. */
static struct rp_arena *allocate_in_file(struct rp_arenas *arenas)
{
    int file = rp_arenas_file(arenas);

    if (file < 0 || !may_grow_to(arenas->file_end + BLOCK) ||
        fallocate(file, 0, (off_t)arenas->file_end, BLOCK) != 0)
        return NULL;
    struct rp_arena *made = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                                 file, (off_t)arenas->file_end);
    if (made == MAP_FAILED)
        return NULL;
    *made = (struct rp_arena){.place = arenas->file_end};
    arenas->file_end += BLOCK;
    return made;
}

static void release(struct rp_arena *block)
{
    if (block->place == RP_ARENA_NOWHERE)
        rp_aligned_free(block);
    else
        munmap(block, BLOCK);
}

static struct rp_arena *new_block(struct rp_arenas *arenas)
{
    struct rp_arena *made = allocate_in_file(arenas);

    if (!made)
        made = allocate(BLOCK);
    if (!made)
        return NULL;
    made->owner = arenas;
    made->next = arenas->all;
    arenas->all = made;
    return made;
}

static struct rp_arena *block_for(struct rp_arenas *arenas, size_t bytes)
{
    if (bytes > ROOM)
        return bytes <= SIZE_MAX - sizeof(struct rp_arena)
                   ? allocate(sizeof(struct rp_arena) + bytes)
                   : NULL;
    if (arenas->current && ROOM - arenas->current->used >= bytes)
        return arenas->current;
    struct rp_arena *found = arenas->idle;
    if (found)
        arenas->idle = found->idle;
    else
        found = new_block(arenas);
    if (found)
        arenas->current = found;
    return found;
}

void *rp_arena_take(struct rp_arenas *arenas, size_t bytes, struct rp_arena **from)
{
    size_t rounded = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    struct rp_arena *block = rounded >= bytes ? block_for(arenas, rounded) : NULL;

    if (!block)
        return NULL;
    void *piece = block->bytes + block->used;
    block->used += rounded;
    block->live++;
    *from = block;
    return piece;
}

void rp_arena_keep(struct rp_arena *from)
{
    from->live++;
}

void rp_arena_give(struct rp_arena *from)
{
    if (--from->live > 0)
        return;
    from->used = 0;
    if (!from->owner) {
        release(from);
    } else if (from != from->owner->current) {
        from->idle = from->owner->idle;
        from->owner->idle = from;
    }
}

void rp_arenas_free(struct rp_arenas *arenas)
{
    for (struct rp_arena *block = arenas->all, *next; block; block = next) {
        next = block->next;
        block->owner = NULL;
        if (block->live == 0)
            release(block);
    }
    if (arenas->is_shared)
        rp_reopen_close(&arenas->file);
    *arenas = (struct rp_arenas){0};
}
