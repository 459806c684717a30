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
        return event->yes.count >= RP_UNDEFINED_COUNT && event->yes.index >= RP_NO_INDEX &&
               (event->yes.count > 0) == (event->yes.index >= 0);
    if (event->kind == RP_NEXT || event->kind == RP_TURN)
        return event->any.a >= 0;
    if (event->kind == RP_THREAD)
        return event->any.a > 0;
    if (event->kind == RP_CLOCK)
        return event->any.a >= 0 && event->any.b >= RP_NO_INDEX;
    return event->kind != RP_NO ||
           (event->no.times > 0 && event->no.thread >= 0 && event->no.group_left >= 0 &&
            event->no.group_left < RP_OPEN_RUNS);
}
