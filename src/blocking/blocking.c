/* SPDX-License-Identifier: MIT */
#include "blocking/blocking_calls.h"

__thread struct rp_blocked rp_blocked;

const struct rp_blocked *reprise_blocking_self(void)
{
    return &rp_blocked;
}
