/* SPDX-License-Identifier: MIT */
/* Vectors of RFC 3720, B.4, and a bitwise implementation for every length and alignment; by the
 * processor's instruction, if it has one, and without. */
#include "base/crc32c.h"

#include "unit.h"

static uint32_t bitwise(const uint8_t *bytes, size_t length)
{
    uint32_t crc = 0xffffffff;

    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
    return crc ^ 0xffffffff;
}

static void check_vectors(void)
{
    static const uint8_t read_command[48] = {0x01, 0xc0, 0,    0, 0, 0, 0,    0,    0, 0,
                                             0,    0,    0,    0, 0, 0, 0x14, 0,    0, 0,
                                             0,    0,    0x04, 0, 0, 0, 0,    0x14, 0, 0,
                                             0,    0x18, 0x28, 0, 0, 0, 0,    0,    0, 0,
                                             0x02, 0,    0,    0, 0, 0, 0,    0};
    uint8_t bytes[32];

    CHECK_EQ(rp_crc32c("", 0), 0);
    CHECK_EQ(rp_crc32c("a", 1), 0xc1d04330);
    CHECK_EQ(rp_crc32c("123456789", 9), 0xe3069283);
    memset(bytes, 0, 32);
    CHECK_EQ(rp_crc32c(bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, 32);
    CHECK_EQ(rp_crc32c(bytes, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    CHECK_EQ(rp_crc32c(bytes, 32), 0x46dd794e);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(31 - i);
    CHECK_EQ(rp_crc32c(bytes, 32), 0x113fdb5c);
    CHECK_EQ(rp_crc32c(read_command, sizeof read_command), 0xd9963a56);
}

static void check_lengths(void)
{
    uint8_t bytes[320];
    uint64_t seed = 2;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)unit_random(&seed);
    for (size_t at = 0; at < 9; at++)
        for (size_t length = 0; length < 300; length++)
            CHECK_EQ(rp_crc32c(bytes + at, length), bitwise(bytes + at, length));
}

static void check_long(void)
{
    static uint8_t bytes[20000];
    uint64_t seed = 3;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)unit_random(&seed);
    for (int i = 0; i < 300; i++) {
        size_t at = unit_random(&seed) % 16, length = unit_random(&seed) % (sizeof bytes - at),
               part = length == 0 ? 0 : unit_random(&seed) % length;
        CHECK_EQ(rp_crc32c(bytes + at, length), bitwise(bytes + at, length));
        CHECK_EQ(rp_crc32c_more(rp_crc32c(bytes + at, part), bytes + at + part, length - part),
                 bitwise(bytes + at, length));
    }
}

TEST(known_vectors)
{
    check_vectors();
    rp_crc32c_only_tables = true;
    check_vectors();
    rp_crc32c_only_tables = false;
}

TEST(long_ones_and_in_parts)
{
    check_long();
    rp_crc32c_only_tables = true;
    check_long();
    rp_crc32c_only_tables = false;
}

TEST(every_length_at_every_alignment)
{
    check_lengths();
    rp_crc32c_only_tables = true;
    check_lengths();
    rp_crc32c_only_tables = false;
}
