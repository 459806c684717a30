/* SPDX-License-Identifier: MIT */
/* Copies of checkpoints: the *buddies* of a rank are the ranks that have them in their memory. */
#ifndef RP_FT_COPIES_H
#define RP_FT_COPIES_H

#include <stdint.h>

#include "ft/ft_mpi.h"
#include "ft/ft_generations.h"

extern int rp_ft_copies; /* of each rank's checkpoints; fewer than there are ranks */

/* Reads the setting, and sets the handlers. `stored_by_all` is called when all our buddies have a
 * later generation than before, with that generation. */
void rp_ft_copies_start(void (*stored_by_all)(int64_t generation));

/* Chooses the buddies by the hosts of the ranks. All processes call it at the start. Returns an
 * error of MPI. */
int rp_ft_copies_gather(MPI_Comm world);

/* Returns the hosts of the ranks; NULL: this process was started later, and does not know them. */
const int64_t *rp_ft_copies_hosts(void);

/* Chooses the buddies by these hosts, which it copies. */
void rp_ft_copies_place(const int64_t *hosts);

/* Returns the rank that keeps the copy of this number, from 0, of a rank's checkpoints. */
int rp_ft_buddy(int rank, int copy);

/* Returns what we keep of a rank: RP_FT_GENERATIONS checkpoints. */
struct rp_ft_checkpoint *rp_ft_held(int rank);

/* Forgets what we keep of later generations; -1: all. */
void rp_ft_copies_forget_after(int64_t generation);

/* Sends a checkpoint of ours to the buddies who do not have it. Its blob must stay until they do.
 */
void rp_ft_copies_send(const struct rp_ft_checkpoint *one);

/* Returns the latest generation that all our buddies have; INT64_MAX if there are none. */
int64_t rp_ft_copies_stored(void);

/* All our buddies have this generation, as far as is known; -1: none. */
void rp_ft_copies_are_stored(int64_t generation);

#endif
