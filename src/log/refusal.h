/* SPDX-License-Identifier: MIT */
/* The note in a record that its recording was refused: at which rank, at which call
 * (docs/format.md, `refused`). */
#ifndef RP_REFUSAL_H
#define RP_REFUSAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "log/replaystate.h"

struct rp_refusal {
    char rank[RP_PROCESS_NAME]; /* the name of the process */
    char function[80];
};

/* Notes that `rank` was refused at the call of `function`. The first note of a record stays. A note
 * that cannot be written is lost silently. */
void rp_refusal_write(const char *directory, const char *rank, const char *function);

/* Returns whether the recording was refused; then *out says where. */
bool rp_refusal_read(const char *directory, struct rp_refusal *out);

/* After a replay reached the end of its record: appends to `out` a NUL-terminated text that says
 * that the recording was refused there, or that the replay was. Returns false if neither was. */
bool rp_refusal_describe(const char *directory, const struct rp_replay_state *state,
                         struct rp_buffer *out);

#endif
