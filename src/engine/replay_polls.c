/* SPDX-License-Identifier: MIT */
/*
 * The polls between two other events are recorded as a group of NO events, each with the number of
 * polls of one MPI function and scope (engine/record_events.h). The program makes them in its own
 * order, so all events of the group are at the front together, and the group is used up when all
 * its polls were made.
 */
#include "engine/replay_polls.h"

#include <string.h>

#include "engine/replay_cursor.h"
#include "event/ring.h"

struct poll_run {
    const char *function; /* ours once it was found the same, else the record's */
    struct rp_event event;
    uint64_t left;
};

static struct {
    uint32_t count; /* 0: the front is no such group, or it has not been looked at */
    uint32_t open;  /* runs with polls left */
    uint32_t chosen;
    struct poll_run run[RP_OPEN_RUNS];
} polls;

static void load(void)
{
    uint32_t count = (uint32_t)rp_cursor_front()->no.group_left + 1;

    for (uint32_t i = 0; i < count; i++) {
        const struct rp_event *event = rp_cursor_ahead(i);
        if (!event || event->kind != RP_NO)
            break; /* cut off */
        polls.run[i] = (struct poll_run){rp_cursor_function(event), *event, event->no.times};
        polls.count = polls.open = i + 1;
    }
}

static bool is_same_poll(struct poll_run *run, const struct rp_call *call, uint32_t scope)
{
    if (run->event.scope != scope || run->left == 0)
        return false;
    if (run->function != call->function) {
        if (strcmp(run->function, call->function) != 0)
            return false;
        run->function = call->function;
    }
    return true;
}

const struct rp_event *rp_polls_find(const struct rp_call *call, uint32_t scope)
{
    if (polls.count == 0)
        load();
    for (uint32_t i = 0; i < polls.count; i++) {
        polls.chosen = (polls.chosen + 1) % polls.count;
        if (is_same_poll(&polls.run[polls.chosen], call, scope))
            return &polls.run[polls.chosen].event;
    }
    return NULL;
}

const struct rp_event *rp_polls_first_open(void)
{
    for (uint32_t i = 0; i < polls.count; i++)
        if (polls.run[i].left > 0)
            return &polls.run[i].event;
    return rp_cursor_front();
}

static void use_up(void)
{
    uint32_t count = polls.count;

    polls.count = 0;
    for (uint32_t i = 0; i < count; i++)
        rp_cursor_use(rp_cursor_front());
    rp_cursor_skip_notes();
}

void rp_polls_take(void)
{
    if (--polls.run[polls.chosen].left == 0 && --polls.open == 0)
        use_up();
}
