/* SPDX-License-Identifier: MIT */
/*
 * All that the generated entries (api/partial.py, api/shmem.py) need. Each MPI function that gives
 * a rank something from outside has two forms, most of them generated: one makes the call and
 * writes down what it gave; the other gives that again from the log.
 */
#ifndef RP_PARTIAL_H
#define RP_PARTIAL_H

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
#include "partial/partial_window_memory.h"

/* Made by api/partial.py: rp_f_X of each function, rp_partial_record_X and rp_partial_feed_X of
 * those written by hand. */
#include "hand.h"

#endif
