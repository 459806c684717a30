/* SPDX-License-Identifier: MIT */
#include "entry/region.h"

#include "entry/engine.h"
#include "peers/peer_outputs.h"
#include "entry/thread_state.h"
#include "entry/threads.h"

static int is_followed(void)
{
    return rp_engine && rp_engine->region_begin && !rp_threads_on && &rp_thread_state == rp_owner &&
           !rp_is_inside();
}

static void begin(unsigned long count)
{
    if (!is_followed())
        return;
    if (reprise_outputs_region_begins)
        reprise_outputs_region_begins(RP_PLACE);
    rp_engine->region_begin(count);
}

static void end(void)
{
    if (!is_followed())
        return;
    if (reprise_outputs_region_ends)
        reprise_outputs_region_ends();
    rp_engine->region_end();
}

const struct reprise_region_calls reprise_region_calls = {1, begin, end};
