/* SPDX-License-Identifier: MIT */
#include "base/aligned.h"

#include <stdint.h>

#include "unit.h"

TEST(it_is_aligned_and_all_there)
{
    for (size_t alignment = 1; alignment <= 1 << 21; alignment *= 2)
        for (size_t size = 0; size < 70000; size = size * 5 + 1) {
            unsigned char *memory = rp_aligned_new(alignment, size);
            REQUIRE(memory != NULL);
            CHECK_EQ((uintptr_t)memory % alignment, 0);
            memset(memory, 0xa5,
                   size); /* the sanitized build of these tests looks where that goes */
            rp_aligned_free(memory);
        }
    rp_aligned_free(NULL);
}

TEST(too_much_is_refused)
{
    CHECK(rp_aligned_new(64, SIZE_MAX - 64) == NULL);
    CHECK(rp_aligned_new(4096, SIZE_MAX) == NULL);
}
