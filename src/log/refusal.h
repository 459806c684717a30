/* SPDX-License-Identifier: MIT */
/* That a recording was refused: by which rank, at which call (docs/format.md, `refused`). */
#ifndef RP_REFUSAL_H
#define RP_REFUSAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "log/replaystate.h"

struct rp_refusal {
    uint32_t rank;
    char function[80];
};

/* The first rank that is refused is noted. Where nothing can be written, nothing is. */
void rp_refusal_write(const char *directory, uint32_t rank, const char *function);

/* Whether the recording was refused. */
bool rp_refusal_read(const char *directory, struct rp_refusal *out);

/* Of a replay that came to the end of a record: that the recording was refused there, or the replay
 * was, with a NUL behind. False: neither. */
bool rp_refusal_describe(const char *directory, const struct rp_replay_state *state,
                         struct rp_buffer *out);

#endif
