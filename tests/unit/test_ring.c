/* SPDX-License-Identifier: MIT */
#include "event/ring.h"

#include <fcntl.h>

#include "base/buffer.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "unit.h"

enum { RUN = 77, RANK = 3, STREAM = 0 };

static struct rp_event numbered(uint64_t i)
{
    return (struct rp_event)RP_EVENT(RP_RECV, 0, 0, 0, (int32_t)i, (int32_t)(i >> 3), 0);
}

static void push(struct rp_ring *ring, struct rp_event event)
{
    *rp_ring_slot(ring) = event;
}

/* A consumer that takes everything at once. */
static int rooms;
static void take_all(struct rp_ring *ring)
{
    rooms++;
    rp_ring_publish(ring);
    ring->shared->tail = ring->head;
    ring->limit = ring->head + RP_RING_CAPACITY;
}

static bool holds(const char *path, uint64_t first, uint64_t count)
{
    struct rp_ring_rest rest;
    struct rp_problem why;

    if (rp_ring_read(path, RUN, RANK, STREAM, first, &rest, &why) != RP_OK) {
        printf("  %s\n", why.text);
        return false;
    }
    bool good = rest.count == count;
    for (uint64_t i = 0; good && i < count; i++) {
        struct rp_event expected = numbered(first + i);
        good = memcmp(&rest.events[i], &expected, sizeof expected) == 0;
    }
    free(rest.events);
    return good;
}

static bool create(struct rp_ring *ring, const char *path)
{
    struct rp_problem why;

    memset(ring, 0, sizeof *ring);
    if (rp_ring_create(ring, path, RUN, RANK, STREAM, 0, &why) != RP_OK)
        return false;
    ring->make_room = take_all;
    return true;
}

TEST(what_is_published_is_read)
{
    const char *path = unit_path(unit_temporary(), "r");
    struct rp_ring ring;
    struct stat st;

    REQUIRE(create(&ring, path));
    CHECK(stat(path, &st) == 0 && st.st_size == RP_RING_HEADER + 32 * RP_RING_CAPACITY);
    CHECK(st.st_blocks * 512 >= st.st_size); /* no holes */
    CHECK(holds(path, 0, 0));
    for (uint64_t i = 0; i < 10; i++)
        push(&ring, numbered(i));
    CHECK(holds(path, 0, 0)); /* not published yet */
    rp_ring_publish(&ring);
    CHECK(holds(path, 0, 10));
    CHECK(holds(path, 4, 6));
    CHECK(holds(path, 10, 0));
    rp_ring_close(&ring, false);
    CHECK(holds(path, 0, 10));
    rp_ring_close(&ring, true); /* closed already: nothing happens */
    CHECK(access(path, F_OK) == 0);
}

TEST(a_ring_is_not_made_twice_and_can_be_discarded)
{
    const char *directory = unit_temporary(), *path = unit_path(directory, "r");
    struct rp_ring ring, other = {0};
    struct rp_problem why;

    REQUIRE(create(&ring, path));
    CHECK_EQ(rp_ring_create(&other, path, RUN, RANK, STREAM, 0, &why), RP_SYSTEM);
    CHECK_HAS(why.text, path);
    CHECK_EQ(rp_ring_create(&other, unit_path(directory, "no/r"), RUN, RANK, STREAM, 0, &why),
             RP_SYSTEM);
    rp_ring_close(&ring, true);
    CHECK(access(path, F_OK) != 0);
}

TEST(it_wraps_around)
{
    const char *path = unit_path(unit_temporary(), "r");
    struct rp_ring ring;

    REQUIRE(create(&ring, path));
    rooms = 0;
    for (uint64_t i = 0; i < 5 * RP_RING_CAPACITY / 2 + 7; i++)
        push(&ring, numbered(i));
    rp_ring_publish(&ring);
    CHECK_EQ(rooms, 3); /* at a half, then at each whole */
    uint64_t tail = ring.shared->tail, head = ring.shared->head;
    CHECK_EQ(head, 5 * RP_RING_CAPACITY / 2 + 7);
    CHECK(holds(path, tail, head - tail));
    CHECK(holds(path, head - RP_RING_CAPACITY, RP_RING_CAPACITY)); /* older ones are still there */
    struct rp_ring_rest rest;
    struct rp_problem why;
    CHECK_EQ(rp_ring_read(path, RUN, RANK, STREAM, head - RP_RING_CAPACITY - 1, &rest, &why),
             RP_DAMAGED);
    CHECK_EQ(rp_ring_read(path, RUN, RANK, STREAM, head + 1, &rest, &why), RP_DAMAGED);
    CHECK_HAS(why.text, "the ring holds events up to");
    rp_ring_close(&ring, true);
}

TEST(after_disconnecting_the_file_stays_as_it_is)
{
    const char *path = unit_path(unit_temporary(), "r");
    struct rp_ring ring;

    REQUIRE(create(&ring, path));
    for (uint64_t i = 0; i < 100; i++)
        push(&ring, numbered(i));
    rp_ring_publish(&ring);
    CHECK_EQ(rp_ring_disconnect(&ring), RP_OK);
    for (uint64_t i = 0; i < 3 * RP_RING_CAPACITY; i++)
        push(&ring, (struct rp_event){0});
    rp_ring_publish(&ring);
    CHECK(holds(path, 0, 100));
    rp_ring_close(&ring, false);
    CHECK(holds(path, 0, 100));
}

/* A ring's bytes, from docs/format.md, section 8. */
struct image {
    uint32_t capacity;
    uint64_t head, tail, open_at;
    struct rp_event open_run[16];
    struct rp_event slots[16];
};

static void put_header(struct rp_buffer *out, const struct image *image)
{
    static const uint8_t zero[4096];

    rp_buffer_put(out, "\x89RPRRNG\n", 8);
    rp_buffer_u16(out, 1);
    rp_buffer_u16(out, 0);
    rp_buffer_u32(out, image->capacity);
    rp_buffer_u64(out, RUN);
    rp_buffer_u32(out, RANK);
    rp_buffer_u32(out, STREAM);
    rp_buffer_put(out, zero, 28);
    rp_buffer_u32(out, rp_crc32c(out->bytes, 60));
    rp_buffer_u64(out, image->head);
    rp_buffer_put(out, zero, 128 - 72);
    rp_buffer_u64(out, image->tail);
    rp_buffer_put(out, zero, 192 - 136);
    rp_buffer_u64(out, image->open_at);
    rp_buffer_put(out, zero, 256 - 200);
    rp_buffer_put(out, image->open_run, 16 * 32);
    rp_buffer_put(out, zero, 4096 - 768);
}

static const char *file_of(const struct rp_buffer *bytes)
{
    const char *path = unit_path(unit_temporary(), "r");
    struct rp_problem why;

    CHECK_OK(rp_write_new_file(path, bytes->bytes, bytes->length, &why), why);
    return path;
}

static const char *write_image(const struct image *image)
{
    struct rp_buffer out = {0};

    put_header(&out, image);
    rp_buffer_put(&out, image->slots, (size_t)image->capacity * 32);
    const char *path = file_of(&out);
    rp_buffer_free(&out);
    return path;
}

static enum rp_status read_image(const struct image *image, uint64_t first,
                                 struct rp_ring_rest *rest, struct rp_problem *why)
{
    memset(rest, 0, sizeof *rest);
    return rp_ring_read(write_image(image), RUN, RANK, STREAM, first, rest, why);
}

/* How many events come out of `image` from `first` on; -1 on a failure. */
static long long count_of(const struct image *image, uint64_t first)
{
    struct rp_ring_rest rest;
    struct rp_problem why;

    if (read_image(image, first, &rest, &why) != RP_OK)
        return -1;
    free(rest.events);
    return (long long)rest.count;
}

static struct image small(void)
{
    struct image image = {.capacity = 8, .head = 5};

    for (uint64_t i = 0; i < 8; i++)
        image.slots[i] = numbered(i);
    return image;
}

TEST(the_layout_is_that_of_the_format)
{
    struct image image = small();

    CHECK(holds(write_image(&image), 0, 5));
    image.head = 19; /* 11 to 18 are in slots 3 4 5 6 7 0 1 2 */
    image.tail = 12;
    for (uint64_t i = 11; i < 19; i++)
        image.slots[i % 8] = numbered(i);
    CHECK(holds(write_image(&image), 12, 7));
    CHECK(holds(write_image(&image), 11, 8));
    CHECK_EQ(count_of(&image, 10), -1);
    CHECK_EQ(count_of(&image, 20), -1);
    CHECK(sizeof(struct rp_ring_header) <= RP_RING_HEADER);
}

TEST(the_open_runs_are_the_last_events)
{
    struct image image = small();
    struct rp_event first = RP_EVENT(RP_NO, 2, 0, 7, 0, 1, 42),
                    second = RP_EVENT(RP_NO, 1, 0, 3, 0, 0, 1);
    struct rp_ring_rest rest;
    struct rp_problem why;

    image.open_at = 5;
    image.open_run[2] = first;
    image.open_run[15] = second;
    image.open_run[2].any.b = 0; /* a group's numbers are given when it is read */
    REQUIRE(read_image(&image, 3, &rest, &why) == RP_OK);
    CHECK_EQ(rest.count, 4);
    CHECK(memcmp(&rest.events[2], &first, 32) == 0);
    CHECK(memcmp(&rest.events[3], &second, 32) == 0);
    free(rest.events);
    CHECK_EQ(count_of(&image, 5), 2);
    image.open_at = 4; /* pushed already */
    CHECK_EQ(count_of(&image, 0), 5);
    image.open_at = 6;
    CHECK_EQ(count_of(&image, 0), 5);
    image.open_at = 5;
    image.open_run[2].any.c = 0;
    CHECK_EQ(count_of(&image, 0), 6);
    image.open_run[15] = (struct rp_event)RP_EVENT(0, 0, 0, 0, 0, 0, 9);
    CHECK_EQ(count_of(&image, 0), 5);
    image = (struct image){.capacity = 8};
    for (int i = 0; i < 16; i++)
        image.open_run[i] = (struct rp_event)RP_EVENT(RP_NO, 0, 0, (uint32_t)i, 0, 0, 1);
    CHECK_EQ(count_of(&image, 0), 16); /* nothing but the runs */
}

TEST(a_call_that_was_cut_off_does_not_count)
{
    static const struct {
        int32_t count;
        uint64_t nexts;
        long long found;
    } cases[] = {{-1, 0, 6}, {0, 0, 6}, {1, 0, 6}, {2, 0, 5},        {2, 1, 7},
                 {3, 0, 5},  {3, 1, 5}, {3, 2, 8}, {INT32_MAX, 2, 5}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct image image = small();
        image.slots[5] = (struct rp_event)RP_EVENT(RP_YES, 0, 0, 9, cases[i].count > 0 ? 4 : -1,
                                                   cases[i].count, 0);
        for (uint64_t k = 0; k < cases[i].nexts; k++)
            image.slots[6 + k] = (struct rp_event)RP_EVENT(RP_NEXT, 0, 0, 0, (int32_t)k, 0, 0);
        image.head = 6 + cases[i].nexts;
        CHECK_EQ(count_of(&image, 0), cases[i].found);
        CHECK_EQ(count_of(&image, 5), cases[i].found - 5);
        image.open_at = image.head;
        image.open_run[0] = (struct rp_event)RP_EVENT(RP_NO, 0, 0, 0, 0, 0, 1);
        bool whole = cases[i].found == (long long)image.head;
        CHECK_EQ(count_of(&image, 0), cases[i].found + whole);
    }
}

TEST(every_bit_of_the_header_counts)
{
    struct image image = small();
    struct rp_buffer bytes = {0};
    struct rp_ring_rest rest;
    struct rp_problem why;
    const char *path = unit_path(unit_temporary(), "r");

    put_header(&bytes, &image);
    rp_buffer_put(&bytes, image.slots, 8 * 32);
    CHECK_OK(rp_write_new_file(path, bytes.bytes, bytes.length, &why), why);
    int fd = open(path, O_WRONLY);
    for (size_t bit = 0; bit < 64 * 8; bit++) {
        uint8_t byte = bytes.bytes[bit / 8] ^ (uint8_t)(1 << bit % 8);
        CHECK_EQ(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
        CHECK_EQ(rp_ring_read(path, RUN, RANK, STREAM, 0, &rest, &why), RP_DAMAGED);
        CHECK_HAS(why.text, path);
        CHECK_EQ(pwrite(fd, &bytes.bytes[bit / 8], 1, (off_t)(bit / 8)), 1);
    }
    close(fd);
    CHECK(holds(path, 0, 5));
    rp_buffer_free(&bytes);
}

TEST(a_ring_of_another_is_refused)
{
    struct image image = small();
    const char *path = write_image(&image);
    struct rp_ring_rest rest;
    struct rp_problem why;

    CHECK_EQ(rp_ring_read(path, RUN + 1, RANK, STREAM, 0, &rest, &why), RP_DAMAGED);
    CHECK_EQ(rp_ring_read(path, RUN, RANK + 1, STREAM, 0, &rest, &why), RP_DAMAGED);
    CHECK_EQ(rp_ring_read(path, RUN, RANK, STREAM + 1, 0, &rest, &why), RP_DAMAGED);
    CHECK_HAS(why.text, "not the ring of rank 3, stream 1");
    CHECK(rp_ring_read("/nowhere/r", RUN, RANK, STREAM, 0, &rest, &why) != RP_OK);
}

TEST(impossible_positions_and_capacities)
{
    struct image image = small();

    image.tail = 6; /* behind head */
    CHECK_EQ(count_of(&image, 0), -1);
    image.tail = 0;
    image.head = 9; /* more than it can hold */
    CHECK_EQ(count_of(&image, 0), -1);
    image.head = UINT64_MAX;
    CHECK_EQ(count_of(&image, 0), -1);
    static const uint32_t capacities[] = {0, 3, 7, 9, 1u << 25, UINT32_MAX};
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        struct rp_buffer bytes = {0};
        struct rp_ring_rest rest;
        struct rp_problem why;
        image = small();
        image.capacity = capacities[i];
        put_header(&bytes, &image);
        rp_buffer_put(&bytes, image.slots, 16 * 32);
        CHECK_EQ(rp_ring_read(file_of(&bytes), RUN, RANK, STREAM, 0, &rest, &why), RP_DAMAGED);
        rp_buffer_free(&bytes);
    }
}

TEST(cut_off_files)
{
    struct image image = small();
    struct rp_buffer bytes = {0};
    struct rp_ring_rest rest;
    struct rp_problem why;
    const char *path = unit_path(unit_temporary(), "r");

    put_header(&bytes, &image);
    rp_buffer_put(&bytes, image.slots, 8 * 32);
    CHECK_OK(rp_write_new_file(path, bytes.bytes, bytes.length, &why), why);
    for (size_t length = bytes.length; length-- > 0;) {
        if (length % 7 && length > 300 && length < 4090)
            continue;
        CHECK_EQ(truncate(path, (off_t)length), 0);
        CHECK_EQ(rp_ring_read(path, RUN, RANK, STREAM, 0, &rest, &why), RP_DAMAGED);
    }
    rp_buffer_free(&bytes);
}

TEST(what_is_not_an_event_is_told)
{
    struct image image = small();
    struct rp_ring_rest rest;
    struct rp_problem why;

    image.slots[3].kind = 0;
    CHECK_EQ(read_image(&image, 0, &rest, &why), RP_DAMAGED);
    CHECK_HAS(why.text, "event 3 is not an event");
    CHECK_EQ(count_of(&image, 4), 1); /* not asked for */
    image.slots[3] = (struct rp_event)RP_EVENT(RP_YES, 0, 0, 1, -1, 3, 0);
    CHECK_EQ(count_of(&image, 0), -1);
}
