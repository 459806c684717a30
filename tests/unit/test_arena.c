/* SPDX-License-Identifier: MIT */
/* Pieces do not overlap, whatever their sizes and the order in which they are given back; memory is
 * used again. */
#include "unit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

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
        *p = (struct piece){.length = unit_below(&random, 50) == 0
                                          ? 5000000 + unit_below(&random, 1000)
                                          : unit_below(&random, 70000),
                            .value = (uint8_t)turn};
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
    struct rp_arena *from[3000], *blocks[8] = {0};
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

/* What another process would read at the place of a piece is the piece. */
TEST(shared_pieces_are_in_the_file)
{
    struct rp_arenas arenas = {0};
    struct piece pieces[PIECES];
    uint64_t random = 5;
    uint8_t *read = malloc(70000);

    REQUIRE(rp_arenas_share(&arenas));
    for (int i = 0; i < PIECES; i++) {
        struct piece *p = &pieces[i];
        *p = (struct piece){.length = 1 + unit_below(&random, 69999), .value = (uint8_t)i};
        p->bytes = rp_arena_take(&arenas, p->length, &p->from);
        REQUIRE(p->bytes);
        memset(p->bytes, p->value, p->length);
    }
    for (int i = 0; i < PIECES; i++) {
        struct piece *p = &pieces[i];
        uint64_t place = rp_arena_place(p->from, p->bytes);
        CHECK(place >= RP_ARENA_BLOCK); /* the first part is not theirs */
        CHECK_EQ(pread(rp_arenas_file(&arenas), read, p->length, (off_t)place), (ssize_t)p->length);
        CHECK(memcmp(read, p->bytes, p->length) == 0);
    }
    struct rp_arena *from;
    void *large = rp_arena_take(&arenas, RP_ARENA_BLOCK, &from);
    REQUIRE(large);
    CHECK_EQ(rp_arena_place(from, large), RP_ARENA_NOWHERE);
    rp_arena_give(from);
    rp_arenas_free(&arenas); /* they stay valid */
    for (int i = 0; i < PIECES; i++) {
        check_piece(&pieces[i]);
        rp_arena_give(pieces[i].from);
    }
    free(read);
}

/* A file that cannot grow any more: memory of the process alone takes its place. */
TEST(without_a_file_memory_is_private)
{
    struct rp_arenas arenas = {0};
    struct rp_arena *from;

    REQUIRE(rp_arenas_share(&arenas));
    fcntl(rp_arenas_file(&arenas), F_ADD_SEALS, F_SEAL_GROW);
    void *piece = rp_arena_take(&arenas, 1000, &from);
    REQUIRE(piece);
    memset(piece, 1, 1000);
    CHECK_EQ(rp_arena_place(from, piece), RP_ARENA_NOWHERE);
    rp_arena_give(from);
    rp_arenas_free(&arenas);
}

/* Beyond the limit of file sizes there would be a signal. */
TEST(limits_of_file_sizes_are_kept)
{
    struct rp_arenas arenas = {0}, none = {0};
    struct rp_arena *from;
    struct rlimit before, small;

    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    small = (struct rlimit){RP_ARENA_BLOCK + 1, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(rp_arenas_share(&arenas));
    void *piece = rp_arena_take(&arenas, 1000, &from);
    REQUIRE(piece);
    CHECK_EQ(rp_arena_place(from, piece), RP_ARENA_NOWHERE);
    rp_arena_give(from);
    rp_arenas_free(&arenas);
    small.rlim_cur = 1000;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(!rp_arenas_share(&none));
    CHECK_EQ(rp_arenas_file(&none), -1);
    setrlimit(RLIMIT_FSIZE, &before);
}

/* The program closed our file, and has another under its number. */
TEST(files_of_others_do_not_grow)
{
    struct rp_arenas arenas = {0};
    struct rp_arena *from;
    char path[] = "/tmp/reprise-arena.XXXXXX";
    int other = mkstemp(path);

    REQUIRE(other >= 0 && rp_arenas_share(&arenas));
    REQUIRE(dup2(other, arenas.file.fd) >= 0);
    CHECK_EQ(rp_arenas_file(&arenas), -1);
    void *piece = rp_arena_take(&arenas, 1000, &from);
    REQUIRE(piece);
    CHECK_EQ(rp_arena_place(from, piece), RP_ARENA_NOWHERE);
    CHECK_EQ(lseek(other, 0, SEEK_END), 0);
    rp_arena_give(from);
    int number = arenas.file.fd;
    rp_arenas_free(&arenas);
    CHECK(fcntl(number, F_GETFD) >= 0); /* it is not ours to close */
    close(number);
    close(other);
    unlink(path);
}
