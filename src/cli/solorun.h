/* SPDX-License-Identifier: MIT */
/* Partial replay: runs ranks of a record alone. */
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
    const char *where;            /* directory to run in; NULL: as recorded */
    const char *mpi;              /* its family; NULL: that of the program */
    const char *until, *break_at; /* run in gdb up to this event or place; or NULL */
    bool force;
    bool who; /* write the accesses of each rank into the record (log/accesslog.h) */
};

/* Replays the ranks: one in this process, several in a process each, all at once. Prints for each
 * whether it did what was recorded. Returns the exit status, the largest if there are several. */
int rp_solo_run(const struct rp_solo *solo);

/* Like rp_solo_run for all ranks of the record, but prints one line for all of them. */
int rp_solo_run_all(const struct rp_solo *solo);

/* Sets *with_data to the number of ranks that have a data log, and *windows to whether any of these
 * made windows. Fails only if some did and a log cannot be read. */
enum rp_status rp_solo_look(const char *directory, const struct rp_manifest *manifest,
                            bool *windows, uint32_t *with_data, struct rp_problem *why);

#endif
