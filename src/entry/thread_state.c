/* SPDX-License-Identifier: MIT */
#include "entry/thread_state.h"

#include <stddef.h>

__thread struct rp_thread_state rp_thread_state = {.depth = RP_UNTRACKED_THREAD, .number = -1};
struct rp_state rp_state;
struct rp_thread_state *rp_owner;
