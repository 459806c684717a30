/* SPDX-License-Identifier: MIT */
/* Values of another library of ours: recorded and replayed like captured ones. */
#include "interpose/captured_values.h"
#include "peers/peer_reprise.h"

static bool is_followed(const char *function)
{
    return rp_engine && (rp_thread_state.depth == 0 || !rp_is_elsewhere(function, 1));
}

int reprise_recall(const char *function, uintptr_t return_address, uintptr_t stack, uint64_t *value)
{
    struct rp_call call = {function, NULL, return_address, stack};
    int32_t unused;

    return is_followed(function) && rp_recalled(&call, &unused, value);
}

void reprise_note(const char *function, uintptr_t return_address, uintptr_t stack, uint64_t value)
{
    struct rp_call call = {function, NULL, return_address, stack};

    if (is_followed(function))
        rp_noted(&call, 0, value);
}
