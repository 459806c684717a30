/* SPDX-License-Identifier: MIT */
#include "mpi/region.h"

#include "mpi/engine.h"
#include "mpi/regions_told.h"
#include "mpi/self.h"
#include "mpi/threads.h"

static int is_followed(void)
{
    return rp_engine && rp_engine->region_begin && !rp_threads_on && &rp_self == rp_owner &&
           !rp_is_inside();
}

static void begin(unsigned long count)
{
    if (!is_followed())
        return;
    if (reprise_given_region_begins)
        reprise_given_region_begins(RP_PLACE);
    rp_engine->region_begin(count);
}

static void end(void)
{
    if (!is_followed())
        return;
    if (reprise_given_region_ends)
        reprise_given_region_ends();
    rp_engine->region_end();
}

const struct reprise_region_calls reprise_region_calls = {1, begin, end};
