/* SPDX-License-Identifier: MIT */
/* What the generated entry points (api/record.py) include. */
#ifndef RP_ENTRIES_H
#define RP_ENTRIES_H

#include "entry/captured.h"
#include "entry/engine.h"
#include "entry/entry.h"
#include "entry/escaped_call.h"
#include "entry/life.h"
#include "entry/refuse.h"
#include "entry/request_notes.h"
#include "entry/thread_state.h"
#include "entry/threaded_receive.h"
#include "entry/threads.h"
#include "preload/constants.h"
#include "preload/real_functions.h"
#include "next.h"

#endif
