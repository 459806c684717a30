/* SPDX-License-Identifier: MIT */
/* The algorithms of collectives that move data: `run` of a struct rp_ft_collective. */
#ifndef RP_FT_DATA_MOVEMENT_H
#define RP_FT_DATA_MOVEMENT_H

#include "ft/ft_collective.h"

int rp_ft_run_barrier(struct rp_ft_collective *call);
int rp_ft_run_bcast(struct rp_ft_collective *call);
int rp_ft_run_gather(struct rp_ft_collective *call);
int rp_ft_run_scatter(struct rp_ft_collective *call);
int rp_ft_run_allgather(struct rp_ft_collective *call);
int rp_ft_run_alltoall(struct rp_ft_collective *call);
int rp_ft_run_neighbor_allgather(struct rp_ft_collective *call);
int rp_ft_run_neighbor_alltoall(struct rp_ft_collective *call);

#endif
