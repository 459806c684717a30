/* SPDX-License-Identifier: MIT */
/* `reprise replay --shuffle` of a plain MPI program: a replay in the recorded order, a shuffled
 * one, and what the two did. */
#ifndef RP_SHUFFLERUN_H
#define RP_SHUFFLERUN_H

#include <stdbool.h>
#include <stdint.h>

struct rp_shuffled {
    const char *directory; /* of the record */
    uint32_t ranks;
    bool is_whole; /* the record goes to the end of the program */
    /* Replays once, with the settings in the environment; `is_shown`: says what it has to say. Its
     * exit status. `step` is to be called some times a second meanwhile. */
    int (*replay)(void *data, bool is_shown, void (*step)(void *), void *step_data);
    void *data;
};

/* Replays the record twice, or more often where these differ, until the region is found that does
 * not commute. The exit status: REPRISE_EXIT_DIVERGED if there is one, else that of the shuffled
 * replay. */
int rp_shuffle_run_run(const struct rp_shuffled *shuffled);

/* Sets REPRISE_GIVEN, which must be known before the libraries are chosen. */
void rp_shuffle_run_prepare(void);

#endif
