/* SPDX-License-Identifier: MIT */
/*
 * A call is compared with the recorded event: MPI function, place in the program, number of
 * receives posted since the event before, communicator or number of requests. Places are compared
 * as call sites; a pair that was found the same once is remembered.
 */
#include "engine/replay_divergence.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "engine/rank.h"
#include "engine/replay_cursor.h"
#include "entry/threads.h"
#include "event/describe.h"
#include "event/naming.h"
#include "event/site.h"
#include "reprise.h"

static struct {
    struct rp_site_table sites; /* of this run */
    uint32_t *same; /* by site of this run: the recorded site last found the same, + 1 */
    size_t same_room;
    struct rp_call last_call; /* that was found at the place of this recorded site */
    uint32_t last_site;
    bool check_sites;
} divergence;

#define U64(x) ((unsigned long long)(x))

enum rp_status rp_divergence_open(bool check_sites, struct rp_problem *why)
{
    const char *wrappers = rp_rank.session.wrappers;

    if (!rp_site_table_init(&divergence.sites))
        return rp_fail(why, RP_MEMORY, "out of memory");
    divergence.sites.wrappers = *wrappers ? wrappers : NULL;
    divergence.check_sites = check_sites;
    return RP_OK;
}

static uint32_t site_of(const struct rp_call *call)
{
    return rp_site_find(&divergence.sites, call->function, call->return_address, call->stack);
}

/* Comparing */

static bool same_site(const struct rp_call *call, uint32_t recorded)
{
    uint32_t here = site_of(call);

    if (here < divergence.same_room && divergence.same[here] == recorded + 1)
        return true;
    if (!rp_site_same(&divergence.sites, here, rp_cursor_sites(), recorded))
        return false;
    if (here >= divergence.same_room) {
        size_t room = (here + 1u) * 2;
        uint32_t *same = realloc(divergence.same, room * sizeof *same);
        if (!same)
            return true;
        memset(same + divergence.same_room, 0, (room - divergence.same_room) * sizeof *same);
        divergence.same = same;
        divergence.same_room = room;
    }
    divergence.same[here] = recorded + 1;
    return true;
}

bool rp_divergence_same_function(const struct rp_call *call, uint32_t site)
{
    const struct rp_site_table *sites = rp_cursor_sites();

    return site < sites->site_count && strcmp(sites->sites[site].function, call->function) == 0;
}

bool rp_divergence_same_place(const struct rp_call *call, uint32_t site)
{
    return rp_divergence_same_function(call, site) &&
           (!divergence.check_sites || same_site(call, site));
}

static const char *difference_of_place(const struct rp_call *call, uint32_t recorded)
{
    const struct rp_call *last = &divergence.last_call;

    if (recorded == divergence.last_site && call->function == last->function &&
        call->return_address == last->return_address && call->stack == last->stack)
        return NULL;
    if (!rp_divergence_same_function(call, recorded))
        return "another MPI function";
    if (divergence.check_sites && !same_site(call, recorded))
        return "another place in the program";
    divergence.last_call = *call;
    divergence.last_site = recorded;
    return NULL;
}

const char *rp_divergence_find(const struct rp_call *call, const struct rp_event *event,
                               uint32_t scope)
{
    const char *what = difference_of_place(call, event->site);

    if (what)
        return what;
    if (event->posts != (uint32_t)rp_cursor_posts())
        return "another number of receives posted before";
    if (event->scope != scope && event->kind != RP_ERROR)
        return "another communicator or number of requests";
    return NULL;
}

/* Reporting */

/* Names of the sites of the record and of this run. */
static struct rp_naming *open_naming(void)
{
    struct rp_naming *naming = rp_naming_open(rp_rank.session.wrappers);

    rp_naming_learn(naming, rp_cursor_sites());
    rp_naming_learn(naming, &divergence.sites);
    return naming;
}

void rp_divergence_put_place(const struct rp_call *call, struct rp_buffer *out)
{
    struct rp_site_place place;
    uint32_t site = site_of(call);
    struct rp_naming *naming = open_naming();

    rp_naming_find(naming, &divergence.sites, site, &place);
    rp_site_place_put_short(out, &place);
    rp_naming_close(naming);
}

static void put_event(const struct rp_event *event, struct rp_buffer *out)
{
    rp_event_put_words(event, out);
    rp_buffer_printf(out, ", %u receives posted since the event before\n", event->posts);
}

static void put_recorded(const struct rp_event *recorded, struct rp_naming *naming,
                         struct rp_buffer *out)
{
    if (!recorded) {
        rp_buffer_printf(out, "MPI_Finalize\n");
        return;
    }
    put_event(recorded, out);
    rp_naming_print_site(naming, rp_cursor_sites(), recorded->site, "    ", out);
}

static void put_seen(const struct rp_call *call, const struct rp_event *seen, struct rp_buffer *out)
{
    rp_buffer_printf(out, "  seen: ");
    if (seen)
        put_event(seen, out);
    else
        rp_buffer_printf(out, "%s, %llu receives posted since the event before\n", call->function,
                         U64(rp_cursor_posts()));
}

static void report(const struct rp_call *call, const struct rp_event *recorded,
                   const struct rp_event *seen, const char *what)
{
    struct rp_buffer text = {0};
    uint32_t site = site_of(call);
    struct rp_naming *naming = open_naming();

    rp_buffer_printf(&text, "the replay left the record at event %llu of %llu: %s\n  recorded: ",
                     U64(rp_cursor_position()), U64(rp_rank.slot->total), what);
    put_recorded(recorded, naming, &text);
    put_seen(call, seen, &text);
    rp_naming_print_site(naming, &divergence.sites, site, "    ", &text);
    rp_naming_close(naming);
    if (rp_threads_are_left())
        rp_buffer_printf(&text, "  this rank has threads whose order was not recorded: does its "
                                "path depend on them? 'reprise record --threads' records it\n");
    rp_buffer_byte(&text, 0);
    if (!text.failed)
        rp_error("%s", (char *)text.bytes);
    rp_buffer_free(&text);
}

void rp_diverge(const struct rp_call *call, const struct rp_event *recorded,
                const struct rp_event *seen, const char *what)
{
    if (!rp_rank_may_report()) {
        rp_rank.slot->state = RP_RANK_DIVERGED;
        rp_rank_wait_to_be_ended();
    }
    report(call, recorded, seen, what);
    rp_rank_give_up(RP_RANK_DIVERGED, REPRISE_EXIT_DIVERGED);
}
