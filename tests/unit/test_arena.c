/* SPDX-License-Identifier: MIT */
/* Pieces do not overlap, whatever their sizes and the order in which they are given back; memory is used again. */
#include "unit.h"

#include "base/arena.h"

enum { PIECES = 400 };

struct piece {
    uint8_t *bytes;
    size_t length;
    uint8_t value;
    struct rp_arena *from;
};

static void check_piece(const struct piece *p)
{
    for (size_t i = 0; i < p->length; i += 1 + p->length / 64)
        CHECK_EQ(p->bytes[i], p->value);
    if (p->length > 0)
        CHECK_EQ(p->bytes[p->length - 1], p->value);
}

TEST(pieces_do_not_overlap)
{
    struct rp_arenas arenas = {0};
    struct piece pieces[PIECES] = {{0}};
    uint64_t random = 3;

    for (int turn = 0; turn < 4000; turn++) {
        struct piece *p = &pieces[unit_below(&random, PIECES)];
        if (p->bytes) {
            check_piece(p);
            rp_arena_give(p->from);
        }
        *p = (struct piece){.length = unit_below(&random, 50) == 0 ? 5000000 + unit_below(&random, 1000) : unit_below(&random, 70000), .value = (uint8_t)turn};
        p->bytes = rp_arena_take(&arenas, p->length, &p->from);
        REQUIRE(p->bytes);
        CHECK_EQ((uintptr_t)p->bytes % 16, 0);
        memset(p->bytes, p->value, p->length);
    }
    rp_arenas_free(&arenas); /* they stay valid */
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].bytes) {
            check_piece(&pieces[i]);
            rp_arena_give(pieces[i].from);
        }
}

TEST(memory_is_used_again)
{
    struct rp_arenas arenas = {0};
    struct rp_arena *from[3000], *blocks[8];
    size_t known = 0;

    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 3000; i++) {
            size_t b = 0;
            REQUIRE(rp_arena_take(&arenas, 5000, &from[i]));
            while (b < known && blocks[b] != from[i])
                b++;
            REQUIRE(b < 4); /* 15 MB in blocks of 4 MiB */
            blocks[b] = from[i];
            known = b < known ? known : b + 1;
        }
        for (int i = 0; i < 3000; i++)
            rp_arena_give(from[round % 2 ? i : 2999 - i]);
    }
    CHECK_EQ(known, 4);
    rp_arenas_free(&arenas);
}
