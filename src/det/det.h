/* SPDX-License-Identifier: MIT */
/*
 * What the generated entries of libreprise-det.so call (api/det.py). The library stands before MPI
 * and makes it deterministic: what is received, and what tests and probes answer, depends on
 * logical time alone.
 */
#ifndef RP_DET_H
#define RP_DET_H

#include <string.h>

#include "det/det_collective_groups.h"
#include "det/det_collectives.h"
#include "det/det_comms.h"
#include "det/det_completion.h"
#include "det/det_life.h"
#include "det/det_operations.h"
#include "det/det_ports.h"
#include "det/det_receives.h"
#include "det/det_reductions.h"
#include "det/det_request_calls.h"
#include "det/det_requests.h"
#include "det/det_sendrecv.h"
#include "det/det_sends.h"
#include "det/det_spawn.h"

#define RP_TAIL

/* Calls pass that are not the program's: before the start and after the end, and what MPI-IO makes
 * inside. */
#define RP_DET_PASSES (!rp_det.is_on || rp_det.inside > 0 || (rp_det.guards && rp_det.depth > 0))

#endif
