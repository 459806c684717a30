/* SPDX-License-Identifier: MIT */
/*
 * What a debugger sees of a replay. `reprise.gdb`, which is installed beside the library, reads
 * this and stops at the function. Nothing is called in the program, which may be stopped anywhere,
 * and some gdbs cannot (13 fails on processors with tile registers); no debug information is
 * needed.
 */
#ifndef RP_GDB_HOOKS_H
#define RP_GDB_HOOKS_H

#include <stdint.h>

#include "event/event.h"
#include "preload/requests.h"

#define RP_WATCHED __attribute__((visibility("default")))

/* Called when an event was replayed, still inside the program's MPI call; a place for
 * breakpoints. */
RP_WATCHED void reprise_event(void);

extern RP_WATCHED volatile uint64_t
    reprise_return_address; /* where the MPI call that the last event belongs to goes back to */

struct reprise_place {
    uint64_t begun, rank, done, total; /* events */
    struct rp_event next;
    const char *kind,
        *function; /* of the next event; kind is NULL if there is none, or it is not loaded */
};
extern RP_WATCHED struct reprise_place reprise_place;
extern RP_WATCHED const struct rp_requests *const reprise_receives;

void rp_gdb_hook_begin(int rank, uint64_t total);
void rp_gdb_hook_place(uint64_t done, const struct rp_event *next, const char *function);

#endif
