/* SPDX-License-Identifier: MIT */
/*
 * Everything that the generated entries (api/partial.py, api/shmem.py) need. Each MPI function by
 * which a rank gets something from outside has two forms, most of them generated. The recording
 * form makes the call and writes its results into the data log; the feeding form returns these
 * results from the log, without the call.
 */
#ifndef RP_PARTIAL_H
#define RP_PARTIAL_H

#include <string.h>

#include "partial/partial_access_trace.h"
#include "partial/partial_areas.h"
#include "partial/partial_completion.h"
#include "partial/partial_early.h"
#include "partial/partial_entries.h"
#include "partial/partial_files.h"
#include "partial/partial_handles.h"
#include "partial/partial_members.h"
#include "partial/partial_reads.h"
#include "partial/partial_request_calls.h"
#include "partial/partial_requests.h"
#include "partial/partial_tracking.h"
#include "partial/partial_window_feed.h"
#include "partial/partial_window_life.h"
#include "partial/partial_window_memory.h"

/* Made by api/partial.py: rp_f_X of each function, rp_partial_record_X and rp_partial_feed_X of
 * those written by hand. */
#include "hand.h"

#endif
