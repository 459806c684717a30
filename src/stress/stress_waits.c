/* SPDX-License-Identifier: MIT */
/*
 * The file is made by whichever rank comes first; each writes its own slot only. A rank that polls
 * is waiting, too, from the first poll that said no to the next that says yes, or another call.
 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "job/settings.h"
#include "base/text.h"
#include "log/replaystate.h"
#include "preload/constants.h"
#include "stress/stress.h"

static struct rp_rank_slot *own;
static bool is_polling, is_finishing;

static void open_state(void)
{
    static bool is_open;
    const char *path = rp_setting("REPRISE_STATE");
    int initialised = 0, rank, ranks;

    if (is_open || !path || !rp_stress_chance() ||
        rp_pmpi.Initialized(&initialised) != MPI_SUCCESS || !initialised)
        return;
    is_open = true;
    rp_pmpi.Comm_rank(rp_constant.world, &rank);
    rp_pmpi.Comm_size(rp_constant.world, &ranks);
    struct rp_replay_state *state = rp_state_join(path, (uint32_t)ranks, 0);
    if (!state)
        return;
    own = &state->rank[rank];
    own->pid = (uint32_t)getpid();
}

__attribute__((format(printf, 1, 2))) static void publish(const char *format, ...)
{
    va_list arguments;

    if (!own)
        open_state();
    if (!own || is_finishing)
        return;
    va_start(arguments, format);
    rp_state_set_text_v(&own->what, format, arguments);
    va_end(arguments);
    if (!is_polling)
        own->since = (int64_t)(rp_stress_now() / 1000000000);
    own->state = RP_RANK_WAITING;
}

static const char *name_of(MPI_Comm comm, char name[MPI_MAX_OBJECT_NAME])
{
    int length = 0;

    name[0] = 0;
    if (comm != rp_constant.comm_null && own)
        rp_pmpi.Comm_get_name(comm, name, &length);
    return name[0] ? rp_text_shown(name) : "a communicator";
}

void rp_stress_waits_to_send(const char *function, int dest, int tag, MPI_Comm comm)
{
    char name[MPI_MAX_OBJECT_NAME];

    publish("%s to rank %d with tag %d on %s", function, dest, tag, name_of(comm, name));
}

void rp_stress_waits_for_message(const char *function, int source, int tag, MPI_Comm comm)
{
    char name[MPI_MAX_OBJECT_NAME], from[32] = "any rank", with[32] = "any tag";

    if (source != MPI_ANY_SOURCE)
        snprintf(from, sizeof from, "rank %d", source);
    if (tag != MPI_ANY_TAG)
        snprintf(with, sizeof with, "tag %d", tag);
    publish("%s for a message from %s with %s on %s", function, from, with, name_of(comm, name));
}

void rp_stress_waits_for_requests(const char *function, int count)
{
    publish(count == 1 ? "%s for %d request" : "%s for %d requests", function, count);
}

void rp_stress_waits_for_all(const char *function, MPI_Comm comm)
{
    char name[MPI_MAX_OBJECT_NAME];

    publish("%s on %s", function, name_of(comm, name));
}

void rp_stress_polled(const char *function, bool said_no)
{
    if (!said_no) {
        rp_stress_goes_on();
    } else {
        publish("%s, which says no", function);
        is_polling = true;
    }
}

void rp_stress_goes_on(void)
{
    is_polling = false;
    if (own && !is_finishing)
        own->state = RP_RANK_RUNNING;
}

void rp_stress_finishes(void)
{
    publish("MPI_Finalize");
    is_finishing = true;
}
