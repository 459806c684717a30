/* SPDX-License-Identifier: MIT */
/* Whether a replay stands still: a thread of each rank looks, also while the rank is inside a
 * blocking call of MPI. */
#ifndef RP_STANDSTILL_H
#define RP_STANDSTILL_H

#include <stdbool.h>

struct rp_standstill {
    bool is_open_end;  /* the record of this rank does not end with MPI_Finalize */
    bool stops_at_end; /* a replay that hangs as the recorded run did is to be ended */
    /* Called by that thread: no rank can move, for the replay left its record; or all is replayed
     * and the ranks wait as they did when the recorded run was ended. Do not return. */
    void (*stuck)(void);
    void (*at_end)(const char *function);
};

/* By the thread that initialised MPI. */
void rp_standstill_open(const struct rp_standstill *options);

/* The rank began to wait, where it says so itself. */
void rp_standstill_moved(void);

/* No rank can move any more. Who polls ends the job then, since it can do so by MPI; where nobody
 * polls, `stuck` is called a little later. */
bool rp_standstill_is_found(void);

#endif
