/* SPDX-License-Identifier: MIT */
/*
 * What a checkpoint holds: the counters of the channels and of the communicators, messages that
 * were not received yet, and what the program protects.
 */
#ifndef RP_FT_SNAPSHOT_H
#define RP_FT_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/ft_generations.h"

struct rp_ft_snapshot {
    int64_t generation, iteration;
    long interval;
    bool has_chosen; /* the interval follows from measurements */
    bool is_last;    /* it was taken when the loop was left */
    bool is_settled; /* all ranks waited until all had it */
};

/* Takes a snapshot into its generation's place among rp_ft_own. `markers` are those of
 * rp_ft_exchange_markers: messages behind them are not part of it. Ends the job without memory. */
void rp_ft_snapshot_take(const struct rp_ft_snapshot *snapshot, const uint64_t *markers);

/* Sets all channels to the counters of a checkpoint, and empties their logs. */
void rp_ft_snapshot_restore_channels(const struct rp_ft_checkpoint *one);

/* Restores everything else. Ends the job if communicators or protected state are others now. */
struct rp_ft_snapshot rp_ft_snapshot_restore(const struct rp_ft_checkpoint *one);

/* Restores what the program sees, for --check: messages and protected state. */
struct rp_ft_snapshot rp_ft_snapshot_restore_program(const struct rp_ft_checkpoint *one);

/* Returns its protected state. */
const uint8_t *rp_ft_snapshot_protected(const struct rp_ft_checkpoint *one);

/* Forgets, in all logs, what was sent before this checkpoint. */
void rp_ft_snapshot_release_logs(const struct rp_ft_checkpoint *one);

#endif
