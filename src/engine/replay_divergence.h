/* SPDX-License-Identifier: MIT */
/* A replay diverges when its program does something that the record does not have. */
#ifndef RP_REPLAY_DIVERGENCE_H
#define RP_REPLAY_DIVERGENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "entry/engine.h"
#include "event/event.h"

/* `check_sites`: the program is the recorded one, so that call sites can be compared. Fails for
 * want of memory. */
enum rp_status rp_divergence_open(bool check_sites, struct rp_problem *why);

/* How the call differs from the recorded event in function, place, posts before it and scope, in
 * words; NULL: it does not. */
const char *rp_divergence_find(const struct rp_call *call, const struct rp_event *event,
                               uint32_t scope);

/* Whether the call is of the MPI function of this recorded site; and whether it also comes from its
 * place, where places are compared. */
bool rp_divergence_same_function(const struct rp_call *call, uint32_t site);
bool rp_divergence_same_place(const struct rp_call *call, uint32_t site);

/* Where the program is, in a few words. To find the line takes time and memory. */
void rp_divergence_put_place(const struct rp_call *call, struct rp_buffer *out);

/* Reports that the call differs from `recorded` (NULL: the record has ended here) and ends all
 * ranks. `seen`: what the call made of it; NULL: no event yet. `what`: the difference in words. */
void rp_diverge(const struct rp_call *call, const struct rp_event *recorded,
                const struct rp_event *seen, const char *what) __attribute__((noreturn));

#endif
