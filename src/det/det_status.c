/* SPDX-License-Identifier: MIT */
/* For `reprise status`: how many decisions a rank has made, and what it waits for, once that takes
 * long. */
#include "det/det_status.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "det/shared_state.h"
#include "job/settings.h"

struct rp_rank_slot *rp_det_slot;

void rp_det_status_open(uint32_t ranks, bool is_spawned)
{
    const char *path = rp_setting("REPRISE_STATE");
    struct rp_replay_state *state = NULL;
    struct rp_problem ignored;

    if (path && is_spawned && rp_state_map(path, rp_shared.room, &state, &ignored) != RP_OK)
        return;
    if (path && !is_spawned)
        state = rp_state_join(path, ranks, rp_shared.room - ranks);
    if (!state)
        return;
    rp_det_slot = &state->rank[rp_shared.rank];
    memcpy(rp_det_slot->name, rp_shared_rank_name(rp_shared.rank).text, RP_PROCESS_NAME);
    rp_det_slot->pid = (uint32_t)getpid();
    rp_det_slot->state = RP_RANK_RUNNING;
}

void rp_det_status_waits(const char *function, const char *what)
{
    struct timespec now;

    rp_state_set_text(&rp_det_slot->what, "%s %s", function, what);
    clock_gettime(CLOCK_MONOTONIC, &now);
    rp_det_slot->since = (int64_t)now.tv_sec;
    rp_det_slot->state = RP_RANK_WAITING;
}

void rp_det_status_goes_on(void)
{
    if (rp_det_slot)
        rp_det_slot->state = RP_RANK_RUNNING;
}

void rp_det_status_ends(void)
{
    if (rp_det_slot)
        rp_det_slot->state = RP_RANK_FINISHED;
}
