/* SPDX-License-Identifier: MIT */
#include "entry/engine.h"

#include <stddef.h>

const struct rp_engine *rp_engine;
int rp_sends_seen;
