/* SPDX-License-Identifier: MIT */
/* Running ranks of a record alone. */
#ifndef RP_SOLORUN_H
#define RP_SOLORUN_H

#include <stdbool.h>
#include <stdint.h>

#include "log/manifest.h"

struct rp_solo {
    const char *directory; /* of the record */
    const struct rp_manifest *manifest;
    const char *ranks;            /* such as 3,7-9 or all */
    char **command;               /* NULL: as recorded */
    const char *where;            /* to run in; NULL: as recorded */
    const char *mpi;              /* or NULL */
    const char *until, *break_at; /* in gdb; or NULL */
    bool force;
    bool who; /* each leaves its accesses in the record (log/accesslog.h) */
};

/* Runs them, one in this process, several at once, and says of each whether it did the same.
 * Returns the exit status. */
int rp_solo_run(const struct rp_solo *solo);

/* The same for all ranks of a record, with one line for all of them. */
int rp_solo_run_all(const struct rp_solo *solo);

/* How many ranks have a data log, and whether any of these made windows. Fails only if they did,
 * and a log cannot be read. */
enum rp_status rp_solo_look(const char *directory, const struct rp_manifest *manifest,
                            bool *windows, uint32_t *with_data, struct rp_problem *why);

#endif
