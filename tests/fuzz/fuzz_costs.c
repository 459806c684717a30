/* SPDX-License-Identifier: MIT */
/* Any file of costs is read or refused, by path and line; one that is refused changes nothing, one
 * that is read has nothing in it that was passed over, and is the same when it is written and read
 * again. */
#include "fuzz.h"

#include <ctype.h>

#include "log/syscall_costs.h"

static void check_bytes(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        FUZZ_CHECK(isalnum(bytes[i]) || isspace(bytes[i]) || bytes[i] == '_' || bytes[i] == '+');
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_syscall_costs costs = {1, 2, 3, 4, 5, 6}, again, before = costs;
    struct rp_problem why = {""};
    char path[8192];

    fuzz_write("costs", bytes, length);
    snprintf(path, sizeof path, "%s/costs", fuzz_directory());
    enum rp_status status = rp_syscall_costs_read(path, &costs, &why);
    fuzz_check_status(status, &why);
    if (status != RP_OK) {
        FUZZ_CHECK(memcmp(&costs, &before, sizeof costs) == 0 && strstr(why.text, "/costs:"));
        return 0;
    }
    check_bytes(bytes, length);
    unlink(path);
    FUZZ_CHECK(rp_syscall_costs_write(path, &costs, &why) == RP_OK &&
               rp_syscall_costs_read(path, &again, &why) == RP_OK &&
               memcmp(&costs, &again, sizeof costs) == 0);
    return 0;
}
