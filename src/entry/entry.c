/* SPDX-License-Identifier: MIT */
#include "entry/entry.h"

#include "entry/escaped_call.h"
#include "entry/refuse.h"

int rp_is_elsewhere(const char *name, int matters)
{
    if (!(rp_thread_state.depth & RP_UNTRACKED_THREAD))
        return !rp_call_escaped(name);
    if (rp_is_inside() || !rp_engine)
        return 1;
    if (rp_threads_adopt())
        return 0;
    if (matters)
        rp_refuse_thread(name);
    return 1;
}
