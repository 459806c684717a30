/* SPDX-License-Identifier: MIT */
#include "event/event.h"

const char *rp_event_name(uint32_t kind)
{
    static const char *const names[RP_EVENT_KINDS] = {
        [RP_RECV] = "RECV",
        [RP_PROBE] = "PROBE",
        [RP_NO] = "NO",
        [RP_YES] = "YES",
        [RP_NEXT] = "NEXT",
        [RP_MATCH] = "MATCH",
        [RP_CANCELLED] = "CANCELLED",
        [RP_UNSENT] = "UNSENT",
        [RP_ERROR] = "ERROR",
        [RP_FREED] = "FREED",
        [RP_THREAD] = "THREAD",
        [RP_TURN] = "TURN",
        [RP_VALUE] = "VALUE",
        [RP_CLOCK] = "CLOCK",
    };

    return kind < RP_EVENT_KINDS && names[kind] ? names[kind] : "?";
}

int rp_event_is_valid(const struct rp_event *event)
{
    if (event->kind == 0 || event->kind >= RP_EVENT_KINDS ||
        (event->posts > 0 && !rp_event_counts_posts(event->kind)))
        return 0;
    if (event->kind == RP_YES)
        return event->b >= RP_UNDEFINED_COUNT && event->a >= RP_NO_INDEX &&
               (event->b > 0) == (event->a >= 0);
    if (event->kind == RP_NEXT || event->kind == RP_TURN)
        return event->a >= 0;
    if (event->kind == RP_THREAD)
        return event->a > 0;
    if (event->kind == RP_CLOCK)
        return event->a >= 0 && event->b >= RP_NO_INDEX;
    return event->kind != RP_NO ||
           (event->c > 0 && event->a >= 0 && event->b >= 0 && event->b < RP_OPEN_RUNS);
}
