/* SPDX-License-Identifier: MIT */
/* Vectors of the reference implementation: key 00 01 .. 0f, the input of n bytes is 00 01 .. n-1;
 * the paper's own is that of 15. */
#include "base/siphash.h"

#include "unit.h"

TEST(known_vectors)
{
    uint8_t key[16], input[16];

    for (uint8_t i = 0; i < 16; i++)
        key[i] = input[i] = i;
    CHECK_EQ(rp_siphash(key, input, 0), UINT64_C(0x726fdb47dd0e0e31));
    CHECK_EQ(rp_siphash(key, input, 1), UINT64_C(0x74f839c593dc67fd));
    CHECK_EQ(rp_siphash(key, input, 8), UINT64_C(0x93f5f5799a932462));
    CHECK_EQ(rp_siphash(key, input, 15), UINT64_C(0xa129ca6149be45e5));
}

TEST(key_matters)
{
    uint8_t key[16] = {0}, other[16] = {0};

    for (int i = 0; i < 16; i++) {
        other[i] = 1;
        CHECK(rp_siphash(key, "reprise", 7) != rp_siphash(other, "reprise", 7));
        other[i] = 0;
    }
}
