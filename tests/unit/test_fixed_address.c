/* SPDX-License-Identifier: MIT */
/* Memory at addresses that only depend on what was taken before. */
#include "base/fixed_address.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

/* Another process, whose memory is otherwise in use, has the same addresses. */
TEST(addresses_are_the_same_in_every_process)
{
    uintptr_t here[3], there[3];
    int ends[2];

    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 3; i++) {
            mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            there[i] = (uintptr_t)rp_fixed_take(100000 * i + 1);
        }
        _exit(write(ends[1], there, sizeof there) != sizeof there);
    }
    for (int i = 0; i < 3; i++)
        here[i] = (uintptr_t)rp_fixed_take(100000 * i + 1);
    CHECK(read(ends[0], there, sizeof there) == sizeof there);
    CHECK(waitpid(child, NULL, 0) == child);
    for (int i = 0; i < 3; i++)
        CHECK(here[i] == there[i] && here[i] != 0);
}

TEST(memory_is_zero_and_no_address_comes_twice)
{
    uint8_t *before = rp_fixed_take(70000);

    CHECK(before && before[0] == 0 && before[69999] == 0);
    memset(before, 1, 70000);
    rp_fixed_give(before, 70000);
    uint8_t *after = rp_fixed_take(70000);
    CHECK(after && after != before && after[0] == 0 && after[69999] == 0);
    rp_fixed_give(after, 70000);
}

/* What stands in the way moves nothing else. */
TEST(an_address_in_use_is_passed_over)
{
    uint8_t *one = rp_fixed_take(0);
    size_t page = 65536;
    void *wall =
        mmap(one + page, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    CHECK(wall == one + page);
    CHECK(rp_fixed_take(1) == NULL);
    CHECK(rp_fixed_take(1) == one + 2 * page);
}

TEST(too_much_is_not_given)
{
    CHECK(rp_fixed_take((size_t)1 << 60) == NULL);
    CHECK(rp_fixed_take(1) != NULL);
}
