/* SPDX-License-Identifier: MIT */
/* `reprise replay --shuffle` of a plain MPI program: compares a shuffled replay with one in the
 * recorded order. */
#ifndef RP_SHUFFLERUN_H
#define RP_SHUFFLERUN_H

#include <stdbool.h>
#include <stdint.h>

struct rp_shuffled {
    const char *directory; /* of the record */
    uint32_t ranks;
    bool is_whole; /* the record goes to the end of the program */
    /* Replays once, with the settings in the environment. `is_shown`: prints its messages. Calls
     * step(step_data) some times a second meanwhile. Returns the exit status. */
    int (*replay)(void *data, bool is_shown, void (*step)(void *), void *step_data);
    void *data;
};

/* Replays the record twice. If the two replays differ, replays it further until the region is found
 * that does not commute. Returns the exit status: REPRISE_EXIT_DIVERGED if there is such a region,
 * else that of the shuffled replay. */
int rp_shuffle_run_run(const struct rp_shuffled *shuffled);

/* Sets REPRISE_GIVEN, which must be known before the libraries are chosen. */
void rp_shuffle_run_prepare(void);

#endif
