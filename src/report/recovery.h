/* SPDX-License-Identifier: MIT */
/* What happened in a run of `reprise ft`: its events (docs/format.md, 12), and its recoveries,
 * computed from them once. */
#ifndef RP_RECOVERY_H
#define RP_RECOVERY_H

#include "report/output.h"

/* Times are microseconds since the first event; -1: not known. */
struct rp_death {
    int rank;
    int64_t killed, replaced, restored, caught_up;
    int64_t generation, iteration; /* it began again with this checkpoint and iteration */
    bool is_global;                /* all ranks went back */
};

/* A rank that lived, from its detection of the failure to the end of the call that it was in. */
struct rp_idle {
    int rank;
    int64_t since, until;
};

struct rp_incident {
    int64_t detected, resumed; /* by the first, by the last */
    int first_rank;
    char *call; /* in which the first saw it */
    int64_t iteration;
    struct rp_death *deaths;
    struct rp_idle *idles;
    size_t death_count, idle_count;
};

struct rp_recovery {
    char *directory;
    int ranks;
    int64_t duration;
    struct rp_incident *incidents;
    size_t count;
};

/* Returns whether the directory is that of a run of `reprise ft`. */
bool rp_recovery_is_here(const char *directory);
enum rp_status rp_recovery_collect(const char *directory, struct rp_recovery *out,
                                   struct rp_problem *why);
void rp_recovery_free(struct rp_recovery *recovery);

void rp_recovery_put_text(struct rp_output *out, const struct rp_recovery *recovery);
void rp_recovery_put_json(struct rp_output *out, const struct rp_recovery *recovery);
void rp_recovery_put_html(struct rp_output *out, const struct rp_recovery *recovery);

#endif
