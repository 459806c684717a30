/* SPDX-License-Identifier: MIT */
/*
 * What happened, as lines of JSON in the directory of the run. The process that saw an event writes
 * it, in one write.
 *
 * A survivor is idle from the detection of a failure until the call that it was in returns, which
 * is seen at its next call. A rank that recovers has caught up when it has sent all that its
 * predecessor sent.
 */
#include "ft/ft_events.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "job/settings.h"
#include "ft/ft_channels.h"
#include "ft/ft_state.h"

static struct {
    double idle_since; /* 0: the program goes on */
    bool catches_up;
} seen;

void rp_ft_event(const char *what, const char *format, ...)
{
    char path[4096], line[1024];
    const char *directory = rp_setting("REPRISE_FT_DIR");
    struct timespec now;
    va_list arguments;

    if (!directory)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    int length =
        snprintf(line, sizeof line,
                 "{\"time\": %lld%06ld, \"rank\": %d, \"recovery\": %u, \"event\": \"%s\", ",
                 (long long)now.tv_sec, now.tv_nsec / 1000, rp_ft.rank, rp_ft.recoveries, what);
    va_start(arguments, format);
    length += vsnprintf(line + length, sizeof line - (size_t)length - 3, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof line - 3)
        return;
    line[length++] = '}';
    line[length++] = '\n';
    snprintf(path, sizeof path, "%s/events.jsonl", directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, RP_PRIVATE_FILE);
    if (fd < 0)
        return;
    if (write(fd, line, (size_t)length) < 0)
        line[0] = 0;
    close(fd);
}

void rp_ft_event_detected(void)
{
    rp_ft_event("detected", "\"call\": \"%s\", \"iteration\": %ld", rp_ft.call ? rp_ft.call : "",
                rp_ft.iteration);
    seen.idle_since = rp_ft.rank >= 0 && !rp_ft.finished ? rp_ft_now() : 0;
    rp_ft.has_work = true;
}

void rp_ft_event_went_on(void)
{
    if (seen.idle_since > 0)
        rp_ft_event("went_on", "\"iteration\": %ld, \"milliseconds\": %.3f", rp_ft.iteration,
                    1e3 * (rp_ft_now() - seen.idle_since));
    seen.idle_since = 0;
}

void rp_ft_event_begins_anew(void)
{
    seen.idle_since = 0;
    seen.catches_up = true;
}

void rp_ft_event_repeated(void)
{
    bool all = seen.catches_up && !rp_ft.repeats_setup;

    for (int i = 0; i < rp_ft.ranks && all; i++)
        all = rp_ft_channels[i].sent >= rp_ft_channels[i].peer_has;
    if (!all)
        return;
    seen.catches_up = false;
    rp_ft_event("caught_up", "\"iteration\": %ld", rp_ft.iteration);
}
