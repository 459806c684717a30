/* SPDX-License-Identifier: MIT */
/* The end of the program in a replay. */
#ifndef RP_REPLAY_FINISH_H
#define RP_REPLAY_FINISH_H

#include <stdbool.h>

/* The program reached MPI_Finalize (`finalized`), or ends otherwise: everything must have been
 * replayed, else this does not return. Says the verdict. */
void rp_replay_finish(bool finalized);

#endif
