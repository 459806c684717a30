/* SPDX-License-Identifier: MIT */
/* What `reprise status` shows of runs without a record: which process waits for what, as far as it
 * is known. */
#ifndef RP_STATUSRUNS_H
#define RP_STATUSRUNS_H

#include "base/buffer.h"
#include "cli/running.h"

void rp_statusruns_put_text(struct rp_buffer *out, const struct rp_running *run);
void rp_statusruns_put_json(struct rp_buffer *out, const struct rp_running *run);

#endif
