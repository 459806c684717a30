/* SPDX-License-Identifier: MIT */
/* The algorithms of reductions: `run` of a struct rp_ft_collective. */
#ifndef RP_FT_REDUCTIONS_H
#define RP_FT_REDUCTIONS_H

#include "ft/ft_collective.h"

int rp_ft_run_reduce(struct rp_ft_collective *call);
int rp_ft_run_allreduce(struct rp_ft_collective *call);
int rp_ft_run_scan(struct rp_ft_collective *call);
int rp_ft_run_exscan(struct rp_ft_collective *call);
int rp_ft_run_reduce_scatter(struct rp_ft_collective *call);

#endif
