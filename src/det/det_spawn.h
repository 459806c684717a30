/* SPDX-License-Identifier: MIT */
/* MPI_Comm_spawn and MPI_Comm_spawn_multiple: the children share the logical time of their parents.
 */
#ifndef RP_DET_SPAWN_H
#define RP_DET_SPAWN_H

#include "det/det_collectives.h"

int rp_det_comm_spawn(struct rp_det_operation what, const char *command, char *argv[], int maxprocs,
                      MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm, int codes[]);
int rp_det_comm_spawn_multiple(struct rp_det_operation what, int count, char *commands[],
                               char **argvs[], const int maxprocs[], const MPI_Info infos[],
                               int root, MPI_Comm comm, MPI_Comm *intercomm, int codes[]);

/* For the child of a spawn, before MPI is initialised: tells the root that reprise is in this
 * process. */
void rp_det_spawned_enter(void);

/* Whether this process is such a child. If so, the other functions map the memory of the parents,
 * and meet them. */
bool rp_det_is_spawned(void);
enum rp_status rp_det_spawned_join(uint32_t ranks, uint32_t rank, struct rp_problem *why);
void rp_det_spawned_meet(void);

#endif
