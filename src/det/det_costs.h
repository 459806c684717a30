/* SPDX-License-Identifier: MIT */
/* System calls of the program take logical time (DMP 3.2). */
#ifndef RP_DET_COSTS_H
#define RP_DET_COSTS_H

#include "base/status.h"

/* Reads the table of costs, if the user named one. */
enum rp_status rp_det_costs_start(struct rp_problem *why);

#endif
