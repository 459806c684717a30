/* SPDX-License-Identifier: MIT */
#include "engine/record_data.h"

#include <stdlib.h>
#include <string.h>

#include "job/settings.h"
#include "peers/peer_partial.h"

static bool is_on;

/* Numbers are ranks of the launcher; of children, `all` has the data. */
static bool is_in_set(const char *ranks, const struct rp_session *session)
{
    return *session->job ? strcmp(ranks, "all") == 0 : rp_ranks_have(ranks, session->rank);
}

enum rp_status rp_record_data_open(const struct rp_session *session, struct rp_problem *why)
{
    const char *ranks = rp_setting("REPRISE_RANKS");
    bool is_partial = rp_session_is_partial();

    if (!is_partial && !ranks)
        return RP_OK;
    if (!reprise_partial_record || !reprise_partial_follow)
        return rp_fail(why, RP_USAGE,
                       "the data of ranks is to be recorded, but libreprise-partial.so is not "
                       "preloaded behind libreprise.so");
    if (!is_partial && !is_in_set(ranks, session))
        return RP_OK; /* ranks outside the set have no data log */
    is_on = true;
    if (is_partial)
        return (enum rp_status)reprise_partial_follow(rp_setting("REPRISE_RUN"), session->run,
                                                      session->rank, session->ranks, why);
    return (enum rp_status)reprise_partial_record(session->directory, session->run, session->rank,
                                                  session->ranks, why);
}

void rp_record_data_go(void)
{
    if (is_on)
        reprise_partial_go();
}

uint64_t rp_record_data_close(void)
{
    bool was_on = is_on;

    is_on = false;
    return was_on ? reprise_partial_close() : 0;
}

void rp_record_data_value(int32_t *a, uint64_t *c)
{
    if (is_on)
        reprise_partial_value(a, c);
}

/* Windows are refused from now on, as in any recording without data. */
void rp_record_data_threads(void)
{
    if (!is_on)
        return;
    reprise_partial_threads();
    is_on = false;
    setenv("REPRISE_RANKS", "", 1);
}
